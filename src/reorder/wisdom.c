/* SPDX-License-Identifier: Apache-2.0 */
#include "reorder/wisdom.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/cpu.h>

#include "base/error.h"
#include "base/int.h"
#include "base/machine.h"
#include "base/writer.h"
#include "desc/scan.h"
#include "reorder/select.h"

enum { KEY_SIZE = TSR_TEXT_SIZE + 64, MACHINE_SIZE = 160, MOST_PERCENT = 1000000 };

static const char magic[] = "tessera-wisdom";
enum { VERSION = 1 };

static const char *const streaming_names[] = {
    [TSR_STREAMING_AUTO] = "auto", [TSR_STREAMING_NEVER] = "never", [TSR_STREAMING_ALWAYS] = "always"};

/* What is known of "RUNG THREADS PROBLEM". */
struct entry {
    char *key;
    const char *row; /* of the table of rows */
    tsr_streaming streaming;
    int64_t tile_bytes;
    int percent;
};

struct tsr_wisdom {
    struct entry *entries; /* sorted by their keys */
    size_t count;
};

tsr_status tsr_wisdom_create(tsr_wisdom **wisdom, tsr_error *error)
{
    tsr_wisdom *made = calloc(1, sizeof *made);
    if (!made)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for wisdom");
    *wisdom = made;
    return TSR_OK;
}

void tsr_wisdom_free(tsr_wisdom **wisdom)
{
    tsr_wisdom *old = wisdom ? *wisdom : NULL;
    if (!old)
        return;
    for (size_t i = 0; i < old->count; i++)
        free(old->entries[i].key);
    free(old->entries);
    free(old);
    *wisdom = NULL;
}

/* ---- keys ---- */

/* One value along an axis is one value for the tensor, and none is none. */
static void simplify(const tsr_desc *desc, int *axis, int64_t *group)
{
    if (*axis < 0)
        return;
    int64_t values = tsr_ceil_div(desc->dims[*axis], tsr_max(*group, 1));
    if (values <= 1)
        *axis = values == 1 ? TSR_ATTRIBUTE_TENSOR : TSR_ATTRIBUTE_NONE;
}

/* False when it is too long to be kept. */
static bool print_key(char key[KEY_SIZE], const char *rung, int threads, const tsr_problem *problem)
{
    tsr_problem simple = *problem;
    tsr_writer out = {key, KEY_SIZE, 0};
    simplify(&simple.src, &simple.scale_axis, &simple.scale_group);
    simplify(&simple.src, &simple.mean_axis, &simple.mean_group);
    simplify(&simple.src, &simple.shift_axis, &simple.shift_group);
    tsr_write(&out, "%s %d ", rung, threads);
    if (out.length >= KEY_SIZE)
        return false;
    size_t room = KEY_SIZE - out.length;
    return tsr_problem_print(&simple, key + out.length, room) < (int)room;
}

/* Where a key is, or belongs. */
static size_t place_of(const tsr_wisdom *wisdom, const char *key)
{
    size_t low = 0, high = wisdom->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(wisdom->entries[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct entry *find(const tsr_wisdom *wisdom, const char *key)
{
    size_t at = place_of(wisdom, key);
    return at < wisdom->count && strcmp(wisdom->entries[at].key, key) == 0 ? &wisdom->entries[at] : NULL;
}

/* A new entry, or the old one, to be filled in; NULL without memory. */
static struct entry *entry_for(tsr_wisdom *wisdom, const char *key)
{
    struct entry *old = find(wisdom, key);
    size_t at = place_of(wisdom, key);
    if (old)
        return old;
    struct entry *entries = realloc(wisdom->entries, (wisdom->count + 1) * sizeof *entries);
    char *copy = strdup(key);
    wisdom->entries = entries ? entries : wisdom->entries;
    if (!entries || !copy) {
        free(copy);
        return NULL;
    }
    memmove(&entries[at + 1], &entries[at], (wisdom->count - at) * sizeof *entries);
    entries[at] = (struct entry){.key = copy};
    wisdom->count++;
    return &entries[at];
}

/* ---- lessons ---- */

static tsr_status learn(tsr_wisdom *wisdom, const char *rung, int threads, const tsr_problem *problem,
                        const tsr_lesson *lesson, tsr_error *error)
{
    char key[KEY_SIZE];
    int row = lesson->row ? tsr_row_named(lesson->row) : -1;
    if (threads < 1)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected 1 or more threads, found %d", threads);
    if (row < 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a row of the selection table, found \"%.40s\"",
                        lesson->row ? lesson->row : "NULL");
    if ((unsigned)lesson->streaming > TSR_STREAMING_ALWAYS || lesson->tile_bytes < 0)
        return tsr_fail(error, TSR_INVALID_ARGUMENT,
                        "expected a streaming of 0 to 2 and 0 or more bytes of a tile, found %d and %" PRId64,
                        (int)lesson->streaming, lesson->tile_bytes);
    if (!(lesson->cost >= 0 && lesson->cost <= MOST_PERCENT / 100))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a cost of 0 to %d, found %g", MOST_PERCENT / 100,
                        lesson->cost);
    if (!print_key(key, rung, threads, problem))
        return tsr_fail(error, TSR_INVALID_ARGUMENT, "expected a problem below %d bytes", TSR_TEXT_SIZE);
    struct entry *entry = entry_for(wisdom, key);
    if (!entry)
        return tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for wisdom");
    entry->row = tsr_rows[row].name;
    entry->streaming = lesson->streaming;
    entry->tile_bytes = lesson->tile_bytes;
    entry->percent = (int)lround(lesson->cost * 100);
    return TSR_OK;
}

tsr_status tsr_wisdom_learn(tsr_wisdom *wisdom, const tsr_problem *problem, int threads, const tsr_lesson *lesson,
                            tsr_error *error)
{
    return learn(wisdom, tsr_cpu_rung_name(tsr_cpu_flags()), threads, problem, lesson, error);
}

/* False when nothing is known of the problem. */
static bool recall(const tsr_wisdom *wisdom, const tsr_problem *problem, int threads, tsr_lesson *lesson)
{
    char key[KEY_SIZE];
    if (!print_key(key, tsr_cpu_rung_name(tsr_cpu_flags()), threads, problem))
        return false;
    const struct entry *entry = find(wisdom, key);
    if (entry)
        *lesson = (tsr_lesson){entry->row, entry->streaming, entry->tile_bytes, entry->percent / 100.0};
    return entry != NULL;
}

static void set_factors(const tsr_factors *factors, int *axis, int64_t *group)
{
    *axis = factors->count == 0 ? TSR_ATTRIBUTE_NONE : factors->count == 1 ? TSR_ATTRIBUTE_TENSOR : factors->axis;
    *group = factors->group > 1 ? factors->group : 0;
}

bool tsr_wisdom_advise(tsr_lesson *lesson, const tsr_desc *src, const tsr_desc *dst, const tsr_reorder_options *options,
                       int threads)
{
    const tsr_wisdom *wisdom = options->wisdom;
    const bool keeps_padding =
        options->padding == TSR_PADDING_KEEP && tsr_desc_padded_elements(dst) != tsr_desc_elements(dst);
    if (options->row || options->streaming != TSR_STREAMING_AUTO || options->tile_bytes != 0 || keeps_padding)
        return false;
    if (!wisdom)
        (void)tsr_default_wisdom(&wisdom, NULL);
    if (!wisdom || wisdom->count == 0)
        return false;
    tsr_problem problem = {.src = *src,
                           .dst = *dst,
                           .has_beta = options->beta != 0,
                           .reverse = options->reverse,
                           .in_place = options->in_place};
    set_factors(&options->scale, &problem.scale_axis, &problem.scale_group);
    set_factors(&options->mean, &problem.mean_axis, &problem.mean_group);
    set_factors(&options->shift, &problem.shift_axis, &problem.shift_group);
    return recall(wisdom, &problem, threads, lesson);
}

/* ---- text ---- */

int tsr_wisdom_print(const tsr_wisdom *wisdom, char *text, size_t size)
{
    char machine[MACHINE_SIZE];
    tsr_writer out = {text, size, 0};
    tsr_machine_print(machine, sizeof machine);
    tsr_write(&out, "%s %d %s\n", magic, VERSION, machine);
    for (size_t i = 0; i < wisdom->count; i++) {
        const struct entry *entry = &wisdom->entries[i];
        tsr_write(&out, "%s = %s %s %" PRId64 " %d\n", entry->key, entry->row, streaming_names[entry->streaming],
                  entry->tile_bytes, entry->percent);
    }
    return (int)out.length;
}

static tsr_status parse_head(const char *line, tsr_error *error)
{
    char machine[MACHINE_SIZE];
    const char *at = line + (sizeof magic - 1);
    int64_t version;
    tsr_machine_print(machine, sizeof machine);
    if (strncmp(line, magic, sizeof magic - 1) != 0 || !tsr_scan_character(&at, ' ') ||
        !tsr_scan_number(&at, &version) || !tsr_scan_character(&at, ' '))
        return tsr_fail(error, TSR_PARSE_ERROR, "expected \"%s %d MACHINE\", found \"%.60s\"", magic, VERSION, line);
    if (version != VERSION)
        return tsr_fail(error, TSR_UNSUPPORTED, "expected version %d, found %" PRId64, VERSION, version);
    if (strcmp(at, machine) != 0)
        return tsr_fail(error, TSR_UNSUPPORTED, "expected wisdom of this machine, \"%.80s\", found \"%.80s\"", machine,
                        at);
    return TSR_OK;
}

/* The next word, cut off at a blank; "" at the end. */
static const char *next_word(char **at)
{
    char *word = *at, *end = word + strcspn(word, " ");
    *at = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

static bool parse_number(const char *word, int64_t most, int64_t *number)
{
    return tsr_scan_number(&word, number) && *word == '\0' && *number <= most;
}

static bool parse_streaming(const char *word, tsr_streaming *streaming)
{
    for (unsigned i = 0; i < sizeof streaming_names / sizeof streaming_names[0]; i++)
        if (strcmp(word, streaming_names[i]) == 0) {
            *streaming = (tsr_streaming)i;
            return true;
        }
    return false;
}

/* Cuts the line up. */
static tsr_status parse_line(tsr_wisdom *wisdom, char *line, tsr_error *error)
{
    char beginning[61], *end = strstr(line, " = ");
    int64_t threads, percent;
    tsr_lesson lesson;
    tsr_problem problem;
    snprintf(beginning, sizeof beginning, "%s", line);
    if (end)
        *end = '\0';
    char *rest = end ? end + strlen(" = ") : line + strlen(line);
    const char *rung = next_word(&line), *thread_word = next_word(&line);
    lesson.row = next_word(&rest);
    if (!parse_number(thread_word, INT_MAX, &threads) || !parse_streaming(next_word(&rest), &lesson.streaming) ||
        !parse_number(next_word(&rest), INT64_MAX, &lesson.tile_bytes) ||
        !parse_number(next_word(&rest), MOST_PERCENT, &percent) || *rest)
        return tsr_fail(error, TSR_PARSE_ERROR,
                        "expected RUNG THREADS PROBLEM = ROW STREAMING TILE_BYTES PERCENT, found \"%s\"", beginning);
    lesson.cost = (double)percent / 100;
    tsr_status status = tsr_problem_parse(&problem, line, error);
    return status == TSR_OK ? learn(wisdom, rung, (int)threads, &problem, &lesson, error) : status;
}

/* All lines of a text, which is cut up. An empty one is no wisdom. */
static tsr_status parse_lines(tsr_wisdom *wisdom, char *text, tsr_error *error)
{
    tsr_error inner = {0};
    tsr_status status = TSR_OK;
    int number = 0;
    while (status == TSR_OK && *text) {
        char *line = text, *end = text + strcspn(text, "\n");
        text = *end ? end + 1 : end;
        *end = '\0';
        status = number++ == 0 ? parse_head(line, &inner) : parse_line(wisdom, line, &inner);
    }
    return status == TSR_OK ? TSR_OK : tsr_fail(error, status, "line %d: %.230s", number, inner.message);
}

tsr_status tsr_wisdom_parse(tsr_wisdom **wisdom, const char *text, tsr_error *error)
{
    tsr_wisdom *made = NULL;
    tsr_status status = tsr_wisdom_create(&made, error);
    char *copy = status == TSR_OK ? strdup(text) : NULL;
    if (status == TSR_OK)
        status = copy ? parse_lines(made, copy, error) : tsr_fail(error, TSR_OUT_OF_MEMORY, "no memory for wisdom");
    free(copy);
    if (status == TSR_OK)
        *wisdom = made;
    else
        tsr_wisdom_free(&made);
    return status;
}
