package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The expected texts are the output of Go. */
class GoQuotedTest {

    @Test
    void of_plainText_isQuoted() {
        assertThat(GoQuoted.of("value")).isEqualTo("\"value\"");
        assertThat(GoQuoted.of("")).isEqualTo("\"\"");
    }

    @Test
    void of_specialCharacters_areEscaped() {
        assertThat(GoQuoted.of("a\nb\tc\"d\\e\r\u0007\b\f\u000b")).isEqualTo("\"a\\nb\\tc\\\"d\\\\e\\r\\a\\b\\f\\v\"");
        assertThat(GoQuoted.of("\u0000\u001b\u007f")).isEqualTo("\"\\x00\\x1b\\x7f\"");
    }

    @Test
    void of_unicode_isKeptIfPrintable() {
        assertThat(GoQuoted.of("é 世界 😀")).isEqualTo("\"é 世界 😀\"");
        assertThat(GoQuoted.of("\u00a0\u200b\u0085")).isEqualTo("\"\\u00a0\\u200b\\u0085\"");
        assertThat(GoQuoted.of("\udbff\udfff")).isEqualTo("\"\\U0010ffff\"");
        assertThat(GoQuoted.of("\uffff")).isEqualTo("\"\\uffff\"");
    }
}
