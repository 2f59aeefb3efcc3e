package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** TestValidatePath of {@code pkg/volume/util/atomic_writer_test.go}, and further paths. */
class PayloadPathsTest {

    @ParameterizedTest
    @ValueSource(strings = {"i/am/well/behaved.txt", "keep/..going", "a", ".hidden", "a/..."})
    void problem_goodPath_isNone(String path) {
        assertThat(PayloadPaths.problem(path)).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "'',          must not be empty",
        "/dev/null,   must be relative",
        "..invalid.txt, must not start with",
        "./..data/x,  must not start with",
        "../a,        must not contain",
        "a/../b,      must not contain",
        "a/..,        must not contain",
        "..,          must not contain",
        ".,           must name a file",
    })
    void problem_badPath_isNamed(String path, String problem) {
        assertThat(PayloadPaths.problem(path)).contains(problem);
    }

    @Test
    void problem_lengths_areCountedInBytes() {
        assertThat(PayloadPaths.problem("x".repeat(255))).isNull();
        assertThat(PayloadPaths.problem("x".repeat(256))).contains("filenames must be less than or equal to 255");
        assertThat(PayloadPaths.problem("é".repeat(128))).contains("filenames must be less than or equal to 255");
        assertThat(PayloadPaths.problem("abc/".repeat(1023) + "abcd")).isNull();
        assertThat(PayloadPaths.problem("abc/".repeat(1024) + "a")).contains("less than or equal to 4096");
    }

    @ParameterizedTest
    @CsvSource({"a, a", "a/b/c, a"})
    void top_isTheFirstName(String path, String expected) {
        assertThat(PayloadPaths.top(path)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"a/b, a/b", "a//b/, a/b", "./a/./b, a/b"})
    void cleaned_isTheShortestForm(String path, String expected) {
        assertThat(PayloadPaths.cleaned(path)).isEqualTo(expected);
    }
}
