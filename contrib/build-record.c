// What a build for release says of itself, for `notes --version`: scripts/release passes the text and
// links this. A debug build, which has no such object, is not linked again for every commit.
const char notes_build_record_text[] = BUILD_RECORD;
