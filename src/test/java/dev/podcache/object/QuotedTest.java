package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class QuotedTest {

    @Test
    void quoted_shortValue_isWholeInQuotationMarks() {
        assertThat(Quoted.value("Ünder_score")).isEqualTo("\"Ünder_score\"");
    }

    @Test
    void quoted_moreThanEightyCharacters_isCut() {
        assertThat(Quoted.value("x".repeat(80))).isEqualTo("\"" + "x".repeat(80) + "\"");
        assertThat(Quoted.value("x".repeat(81))).isEqualTo("\"" + "x".repeat(80) + "...\"");
    }

    @Test
    void quoted_controlCharactersAndLineSeparators_areEscaped() {
        assertThat(Quoted.value("60\r\nERROR forged\u001b[31m\u2028x\u2029y\u0085z"))
                .isEqualTo("\"60\\u000d\\u000aERROR forged\\u001b[31m\\u2028x\\u2029y\\u0085z\"");
    }

    @Test
    void of_moreThanThreeHundredCharacters_isCutWithoutQuotationMarks() {
        assertThat(Quoted.text("x".repeat(300))).isEqualTo("x".repeat(300));
        assertThat(Quoted.text("x".repeat(301))).isEqualTo("x".repeat(300) + "...");
    }

    @Test
    void of_severalLines_isOne() {
        assertThat(Quoted.text("no\n\tend")).isEqualTo("no end");
    }

    @Test
    void line_anyLength_isWholeAndOnOneLine() {
        assertThat(Quoted.line("x".repeat(400) + "\r\n\u001b[2Jend")).isEqualTo("x".repeat(400) + " [2Jend");
    }

    @Test
    void line_otherDirectionOfText_isABlank() {
        assertThat(Quoted.line("a" + (char) 0x202e + "b" + (char) 0x2066 + "c")).isEqualTo("a b c");
    }
}
