/* SPDX-License-Identifier: Apache-2.0 */
#include "show.h"

#include <inttypes.h>
#include <stdio.h>

#include <tessera/algebra.h>
#include <tessera/dialect.h>
#include <tessera/text.h>

#include "json.h"

/* What is asked about a descriptor beside its fields. */
struct facts {
    char layout[TSR_TEXT_SIZE], canonical[TSR_TEXT_SIZE];
    int64_t order[TSR_MAX_LEVELS], span[2];
    double padding_share;
    const char *injective;
    bool has_window;
};

static void find_facts(struct facts *facts, const tsr_desc *desc)
{
    tsr_desc canonical;
    bool injective;
    double padded = (double)tsr_desc_padded_elements(desc);
    tsr_desc_canonical(&canonical, desc);
    tsr_layout_print(desc, facts->layout, sizeof facts->layout);
    tsr_layout_print(&canonical, facts->canonical, sizeof facts->canonical);
    tsr_desc_span(desc, &facts->span[0], &facts->span[1]);
    facts->padding_share = padded > 0 ? 1 - (double)tsr_desc_elements(desc) / padded : 0;
    facts->injective = tsr_desc_is_injective(desc, &injective, NULL) != TSR_OK ? "not known" : injective ? "yes" : "no";
    facts->has_window = false;
    for (int k = 0; k < desc->rank; k++)
        facts->has_window |= desc->step[k] != 0;
    for (int i = 0; i < desc->levels; i++)
        facts->order[i] = desc->order[i];
}

static void print_numbers(const char *name, const int64_t *numbers, int n)
{
    printf("%-15s", name);
    for (int i = 0; i < n; i++)
        printf("%s%" PRId64, i ? " " : "", numbers[i]);
    putchar('\n');
}

void show_dialects(const tsr_desc *desc)
{
    for (int dialect = 0; dialect < TSR_DIALECT_COUNT; dialect++) {
        char text[TSR_TEXT_SIZE];
        tsr_error error = {0};
        tsr_status status = tsr_dialect_print(desc, (tsr_dialect)dialect, TSR_ROLE_ANY, text, sizeof text, &error);
        printf("%-15s%s%s\n", tsr_dialect_name((tsr_dialect)dialect), status == TSR_OK ? "" : "- ",
               status == TSR_OK ? text : error.message);
    }
}

void show_text(const tsr_desc *desc)
{
    struct facts facts;
    find_facts(&facts, desc);
    printf("%-15s%s of %s\n", "layout", facts.layout, tsr_dtype_name(desc->dtype));
    printf("%-15s%s\n", "canonical", facts.canonical);
    printf("%-15s%016" PRIx64 "\n", "hash", tsr_desc_hash(desc));
    print_numbers("dims", desc->dims, desc->rank);
    print_numbers("block dims", desc->block_dims, desc->levels);
    print_numbers("order", facts.order, desc->levels);
    print_numbers("strides", desc->strides, desc->levels);
    print_numbers("offset", &desc->offset, 1);
    if (facts.has_window) {
        print_numbers("first", desc->first, desc->rank);
        print_numbers("step", desc->step, desc->rank);
    }
    printf("%-15s%" PRId64 "\n", "elements", tsr_desc_elements(desc));
    printf("%-15s%" PRId64 " elements, %.1f%% of them padding\n", "with padding", tsr_desc_padded_elements(desc),
           100 * facts.padding_share);
    printf("%-15s%" PRId64 " to %" PRId64 ", %s\n", "span", facts.span[0], facts.span[1],
           tsr_desc_is_dense(desc) ? "dense" : "not dense");
    printf("%-15s%s\n", "injective", facts.injective);
    printf("%-15s%" PRId64 " bytes\n", "size", tsr_desc_size_bytes(desc));
}

static json_t *json_dialects(const tsr_desc *desc)
{
    json_t *object = json_object();
    for (int dialect = 0; dialect < TSR_DIALECT_COUNT; dialect++) {
        char text[TSR_TEXT_SIZE];
        tsr_status status = tsr_dialect_print(desc, (tsr_dialect)dialect, TSR_ROLE_ANY, text, sizeof text, NULL);
        json_object_set_new(object, tsr_dialect_name((tsr_dialect)dialect),
                            status == TSR_OK ? json_text(text) : json_null());
    }
    return object;
}

json_t *show_json(const tsr_desc *desc, bool dialects)
{
    struct facts facts;
    char hash[17];
    find_facts(&facts, desc);
    snprintf(hash, sizeof hash, "%016" PRIx64, tsr_desc_hash(desc));
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:I, s:I, s:I, s:f, s:o, s:b, s:s}",
                  "layout", facts.layout, "canonical", facts.canonical, "hash", hash, "dtype",
                  tsr_dtype_name(desc->dtype), "dims", json_numbers(desc->dims, desc->rank), "block_dims",
                  json_numbers(desc->block_dims, desc->levels), "order", json_numbers(facts.order, desc->levels),
                  "strides", json_numbers(desc->strides, desc->levels), "offset", (json_int_t)desc->offset, "first",
                  json_numbers(desc->first, desc->rank), "step", json_numbers(desc->step, desc->rank), "size_bytes",
                  (json_int_t)tsr_desc_size_bytes(desc), "elements", (json_int_t)tsr_desc_elements(desc),
                  "padded_elements", (json_int_t)tsr_desc_padded_elements(desc), "padding_share", facts.padding_share,
                  "span", json_numbers(facts.span, 2), "dense", tsr_desc_is_dense(desc), "injective", facts.injective);
    if (dialects)
        json_object_set_new(object, "dialects", json_dialects(desc));
    return object;
}
