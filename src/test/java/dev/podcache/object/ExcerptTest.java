package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ExcerptTest {

    @Test
    void quoted_shortValue_isWholeInQuotationMarks() {
        assertThat(Excerpt.quoted("Ünder_score")).isEqualTo("\"Ünder_score\"");
    }

    @Test
    void quoted_moreThanEightyCharacters_isCut() {
        assertThat(Excerpt.quoted("x".repeat(80))).isEqualTo("\"" + "x".repeat(80) + "\"");
        assertThat(Excerpt.quoted("x".repeat(81))).isEqualTo("\"" + "x".repeat(80) + "...\"");
    }

    @Test
    void quoted_controlCharactersAndLineSeparators_areEscaped() {
        assertThat(Excerpt.quoted("60\r\nERROR forged\u001b[31m\u2028x\u2029y\u0085z"))
                .isEqualTo("\"60\\u000d\\u000aERROR forged\\u001b[31m\\u2028x\\u2029y\\u0085z\"");
    }

    @Test
    void of_moreThanThreeHundredCharacters_isCutWithoutQuotationMarks() {
        assertThat(Excerpt.of("x".repeat(300))).isEqualTo("x".repeat(300));
        assertThat(Excerpt.of("x".repeat(301))).isEqualTo("x".repeat(300) + "...");
    }

    @Test
    void of_severalLines_isOne() {
        assertThat(Excerpt.of("no\n\tend")).isEqualTo("no end");
    }
}
