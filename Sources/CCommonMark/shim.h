/* Markdown, as GitHub's fork of libcmark reads it. The functions are declared here, so that a build needs no
   headers of it: all versions that the names below stand for have them. */
#pragma once
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct cmark_node;
struct cmark_parser;
struct cmark_syntax_extension;

/// The memory functions of a parser.
struct cmark_mem {
  void *_Nullable (*_Nonnull calloc)(size_t, size_t);
  void *_Nullable (*_Nonnull realloc)(void *_Nullable, size_t);
  void (*_Nonnull free)(void *_Nullable);
};

typedef struct cmark_node *_Nullable notes_node;

/// The functions of libcmark-gfm and its extensions that notes calls.
struct __attribute__((swift_attr("@Sendable"))) commonmark {
  struct cmark_parser *_Nullable (*_Nonnull parser_new_with_mem)(int, struct cmark_mem *_Nonnull);
  void (*_Nonnull parser_feed)(struct cmark_parser *_Nonnull, const char *_Nonnull, size_t);
  notes_node (*_Nonnull parser_finish)(struct cmark_parser *_Nonnull);
  int (*_Nonnull parser_attach_syntax_extension)(
      struct cmark_parser *_Nonnull, struct cmark_syntax_extension *_Nonnull);
  struct cmark_syntax_extension *_Nullable (*_Nonnull find_syntax_extension)(const char *_Nonnull);
  void (*_Nonnull consolidate_text_nodes)(notes_node);
  notes_node (*_Nonnull node_first_child)(notes_node);
  notes_node (*_Nonnull node_next)(notes_node);
  notes_node (*_Nonnull node_parent)(notes_node);
  const char *_Nullable (*_Nonnull node_get_type_string)(notes_node);
  const char *_Nullable (*_Nonnull node_get_literal)(notes_node);
  const char *_Nullable (*_Nonnull node_get_url)(notes_node);
  int (*_Nonnull node_get_heading_level)(notes_node);
  int (*_Nonnull node_get_list_type)(notes_node);
  int (*_Nonnull node_get_list_start)(notes_node);
  int (*_Nonnull node_get_list_tight)(notes_node);
  int (*_Nonnull node_get_start_line)(notes_node);
  uint8_t *_Nullable (*_Nonnull gfm_extensions_get_table_alignments)(notes_node);
  uint16_t (*_Nonnull gfm_extensions_get_table_columns)(notes_node);
  void (*_Nonnull gfm_core_extensions_ensure_registered)(void);
};

/// The endings of the libraries' file names to try, in this order; NULL after the last. Debian 12 and 13, Ubuntu
/// 22.04 to 25.10, and systems that name no version of GitHub's.
static inline const char *_Nullable commonmark_version(int position) {
  static const char *const versions[] = {"0.29.0.gfm.13", "0.29.0.gfm.6", "0.29.0.gfm.12", "0.29.0.gfm.11",
    "0.29.0.gfm.10", "0.29.0.gfm.9", "0.29.0.gfm.8", "0.29.0.gfm.7", "0.29.0.gfm.3", 0};
  return position < (int)(sizeof versions / sizeof *versions) ? versions[position] : 0;
}

/// Fills `api` from the shared libraries of these file names; returns NULL, or a message about what is missing.
static inline const char *_Nullable commonmark_load(
    struct commonmark *_Nonnull api, const char *_Nonnull library, const char *_Nonnull extensions) {
  void *first = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!first) return dlerror();
  void *second = dlopen(extensions, RTLD_NOW | RTLD_LOCAL);
  if (!second) return dlerror();
#define F(from, name) \
  if (!(*(void **)&api->name = dlsym(from, "cmark_" #name))) return dlerror();
  F(first, parser_new_with_mem) F(first, parser_feed) F(first, parser_finish)
  F(first, parser_attach_syntax_extension) F(first, find_syntax_extension) F(first, consolidate_text_nodes)
  F(first, node_first_child) F(first, node_next) F(first, node_parent) F(first, node_get_type_string)
  F(first, node_get_literal) F(first, node_get_url) F(first, node_get_heading_level) F(first, node_get_list_type)
  F(first, node_get_list_start) F(first, node_get_list_tight) F(first, node_get_start_line)
  F(second, gfm_extensions_get_table_alignments) F(second, gfm_extensions_get_table_columns)
  F(second, gfm_core_extensions_ensure_registered)
#undef F
  return 0;
}

// A hostile text may cost the library much memory, and time that grows with the square of the text's length. So
// the library gets one piece of memory, which is freed as a whole, and a timer that aborts it at any point: it has
// no lock, no file and no other memory, so an abort leaves nothing behind.

/// The memory for one text, and the place to jump to when the memory, or the time, is used up.
struct commonmark_bounds {
  sigjmp_buf end;
  char *_Nullable memory;
  size_t size, used;
  volatile sig_atomic_t is_running;
};

/// The memory of this thread.
static inline struct commonmark_bounds *_Nonnull commonmark_own(void) {
  static _Thread_local struct commonmark_bounds own;
  return &own;
}

static void *_Nullable commonmark_take(size_t size) {
  struct commonmark_bounds *own = commonmark_own();
  size_t whole = (size + 31) & ~(size_t)15;
  if (size > own->size || whole > own->size - own->used) siglongjmp(own->end, 2);
  char *place = own->memory + own->used;
  own->used += whole;
  memcpy(place, &size, sizeof size);
  return place + 16;
}

static void *_Nullable commonmark_calloc(size_t count, size_t size) {
  size_t whole;
  if (__builtin_mul_overflow(count, size, &whole)) siglongjmp(commonmark_own()->end, 2);
  return commonmark_take(whole);  // fresh memory is zero
}

static void *_Nullable commonmark_realloc(void *_Nullable former, size_t size) {
  void *place = commonmark_take(size);
  if (former) {
    size_t old;
    memcpy(&old, (char *)former - 16, sizeof old);
    memcpy(place, former, old < size ? old : size);
  }
  return place;
}

static void commonmark_free(void *_Nullable place) { (void)place; }

static void commonmark_time_is_up(int number) {
  (void)number;
  if (commonmark_own()->is_running) siglongjmp(commonmark_own()->end, 1);
}

/// The timer's signal, which no other part of the program uses.
static inline int commonmark_signal(void) { return SIGRTMAX - 3; }

/// Frees the memory of the thread's last text.
static inline void commonmark_forget(void) {
  struct commonmark_bounds *own = commonmark_own();
  if (own->memory) munmap(own->memory, own->size);
  own->memory = 0;
}

/// Parses a text; the tree is valid until `commonmark_forget` on the same thread. NULL if that exceeds the limit
/// of memory or of processor time.
static inline notes_node commonmark_parse(
    const struct commonmark *_Nonnull api, const char *_Nonnull text, size_t length, size_t memory,
    long milliseconds) {
  struct commonmark_bounds *own = commonmark_own();
  static struct cmark_mem in_bounds = {commonmark_calloc, commonmark_realloc, commonmark_free};
  static const char *const extensions[] = {"table", "strikethrough", "tasklist"};
  struct sigaction action = {.sa_handler = commonmark_time_is_up};
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = commonmark_signal()};
  struct itimerspec limit = {.it_value = {milliseconds / 1000, milliseconds % 1000 * 1000000}};
  timer_t timer;
  sigset_t number;
  void *place = mmap(0, memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return 0;
  commonmark_forget();
  own->memory = place, own->size = memory, own->used = 0;
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  if (sigaction(commonmark_signal(), &action, 0) || timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer)) {
    commonmark_forget();
    return 0;
  }
  sigemptyset(&number);
  sigaddset(&number, commonmark_signal());
  pthread_sigmask(SIG_UNBLOCK, &number, 0);
  notes_node volatile root = 0;
  if (!sigsetjmp(own->end, 1)) {
    own->is_running = 1;
    timer_settime(timer, 0, &limit, 0);
    struct cmark_parser *parser = api->parser_new_with_mem(0, &in_bounds);
    for (int i = 0; parser && i < 3; i++) {
      struct cmark_syntax_extension *extension = api->find_syntax_extension(extensions[i]);
      if (extension) api->parser_attach_syntax_extension(parser, extension);
    }
    if (parser) {
      api->parser_feed(parser, text, length);
      root = api->parser_finish(parser);
      if (root) api->consolidate_text_nodes(root);
    }
  } else {
    root = 0;
  }
  own->is_running = 0;
  timer_delete(timer);
  if (!root) commonmark_forget();
  return root;
}
