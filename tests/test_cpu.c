/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tessera/cpu.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { AVX2 = TSR_CPU_SSE41 | TSR_CPU_AVX2, AVX512 = AVX2 | TSR_CPU_AVX512, VBMI = AVX512 | TSR_CPU_AVX512_VBMI };

static void test_detected(void **state)
{
    (void)state;
    unsigned flags = tsr_cpu_detected();
    assert_int_equal(tsr_cpu_detected(), flags);
    assert_int_equal(flags & ~(unsigned)(VBMI | TSR_CPU_NEON), 0);
    if (flags & TSR_CPU_AVX512_VBMI)
        assert_true(flags & TSR_CPU_AVX512);
    if (flags & TSR_CPU_AVX512)
        assert_true(flags & TSR_CPU_AVX2);
    if (flags & TSR_CPU_AVX2)
        assert_true(flags & TSR_CPU_SSE41);
#if defined(__aarch64__)
    assert_int_equal(flags, TSR_CPU_NEON);
#elif defined(__x86_64__)
    assert_int_equal(flags & TSR_CPU_NEON, 0);
    assert_int_equal((flags & TSR_CPU_AVX512) != 0,
                     __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
#else
    assert_int_equal(flags, 0);
#endif
}

static void test_rung_names(void **state)
{
    (void)state;
    static const struct {
        unsigned flags;
        const char *name;
    } rows[] = {
        {0, "c"},           {TSR_CPU_SSE41, "sse41"},   {AVX2, "avx2"},       {TSR_CPU_AVX2, "avx2"},
        {AVX512, "avx512"}, {TSR_CPU_AVX512, "avx512"}, {VBMI, "avx512vbmi"}, {TSR_CPU_NEON, "neon"},
        {1U << 20, "c"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_string_equal(tsr_cpu_rung_name(rows[i].flags), rows[i].name);
}

static void test_mask(void **state)
{
    (void)state;
    static const unsigned masks[] = {0,   TSR_CPU_SSE41, AVX2,        AVX512,   VBMI,
                                     ~1U, TSR_CPU_NEON,  TSR_CPU_ALL, 1U << 31, 1U << 30};
    for (size_t i = 0; i < COUNT(masks); i++) {
        tsr_cpu_set_mask(masks[i]);
        assert_int_equal(tsr_cpu_flags(), tsr_cpu_detected() & masks[i]);
        assert_int_equal(tsr_cpu_flags(), tsr_cpu_detected() & masks[i]);
    }
    tsr_cpu_set_mask(TSR_CPU_ALL);
    assert_int_equal(tsr_cpu_flags(), tsr_cpu_detected());
}

/* --- TSR_CPU, which is read once: every word has a process of its own --- */

static const struct {
    const char *word;
    unsigned mask;
} words[] = {
    {"c", 0},
    {"sse41", TSR_CPU_SSE41},
    {"avx2", AVX2},
    {"avx512", AVX512},
    {"avx512vbmi", VBMI},
    {"neon", TSR_CPU_NEON},
    {"", TSR_CPU_ALL},
    {"AVX2", AVX2},
    {"avx", TSR_CPU_ALL},
    {"avx", TSR_CPU_ALL},
    {"avx2 ", TSR_CPU_ALL},
    {"sse9", TSR_CPU_ALL},
    {NULL, TSR_CPU_ALL},
};

/* The other process: are the flags those of words[i], and do they stay when the variable changes? */
static int check_word(const char *number)
{
    unsigned expected = tsr_cpu_detected() & words[strtoul(number, NULL, 10)].mask;
    if (tsr_cpu_flags() != expected)
        return 1;
    setenv("TSR_CPU", expected ? "c" : "avx512vbmi", 1);
    if (tsr_cpu_flags() != expected)
        return 2;
    tsr_cpu_set_mask(TSR_CPU_ALL);
    return tsr_cpu_flags() == tsr_cpu_detected() ? 0 : 3;
}

static void become_child(size_t i)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", i);
    if (words[i].word)
        setenv("TSR_CPU", words[i].word, 1);
    else
        unsetenv("TSR_CPU");
    execl("/proc/self/exe", "test_cpu", number, (char *)NULL);
    _exit(4);
}

static void test_environment(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(words); i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            become_child(i);
        int result = -1;
        assert_int_equal(waitpid(child, &result, 0), child);
        if (!WIFEXITED(result) || WEXITSTATUS(result) != 0)
            fail_msg("TSR_CPU=%s: the child answers %#x", words[i].word ? words[i].word : "(unset)", (unsigned)result);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_detected),
        cmocka_unit_test(test_rung_names),
        cmocka_unit_test(test_mask),
        cmocka_unit_test(test_environment),
    };
    return argc > 1 ? check_word(argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
