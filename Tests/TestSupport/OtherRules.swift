/// Gives the notebook in a folder, which stands on a derived merge, the tip that a program with
/// other merge rules would have: the same heads, another version in the trailer, another text.
public func mergeByOtherRules(_ note: String, to text: String, in folder: String) throws {
  let script = """
    export GIT_INDEX_FILE=.git/other-rules
    git read-tree HEAD
    blob=$(printf %s "$2" | git hash-object -w --stdin)
    git update-index --cacheinfo 100644,$blob,"$1"
    tree=$(git write-tree)
    tip=$(git cat-file commit HEAD | sed "s/^tree .*/tree $tree/; s/^Notes-Merge: 4$/Notes-Merge: 9/" \\
      | git hash-object -t commit -w --stdin)
    rm .git/other-rules
    unset GIT_INDEX_FILE
    git cat-file commit $tip | grep -qx 'Notes-Merge: 9'
    git reset -q --hard $tip
    """
  let result = try run(["sh", "-ec", script, "sh", note, text], in: folder)
  if !result.isSuccess { throw SystemError("git, to merge by other rules: \(result)") }
}
