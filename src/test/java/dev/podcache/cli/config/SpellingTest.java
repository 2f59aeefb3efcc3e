package dev.podcache.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpellingTest {

    @ParameterizedTest
    @CsvSource({
        "maxPods, maxPods, 0",
        "'', abc, 3",
        "abc, '', 3",
        "kitten, sitting, 3",
        "maxpods, maxPods, 1",
        "flaw, lawn, 2"
    })
    void distance_twoWords_isTheLettersToChangeAddOrLeaveOut(String from, String to, int expected) {
        assertThat(Spelling.distance(from, to)).isEqualTo(expected);
        assertThat(Spelling.distance(to, from)).isEqualTo(expected);
    }

    @Test
    void nearest_severalAtTheSameDistance_isTheFirst() {
        assertThat(Spelling.nearest("port", List.of("address", "sort", "part"))).isEqualTo("sort");
    }
}
