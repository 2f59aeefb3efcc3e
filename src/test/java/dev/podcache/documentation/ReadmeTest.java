package dev.podcache.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The README stays short enough to be read. */
class ReadmeTest {

    private static final String TEXT = Documents.text(Documents.README);

    @Test
    void readme_isShort() {
        assertThat(TEXT.lines())
                .hasSizeLessThanOrEqualTo(150)
                .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(160));
        assertThat(words(TEXT)).hasSizeLessThanOrEqualTo(900);
    }

    @Test
    void readme_firstParagraph_saysInAFewWordsWhatItIs() {
        String paragraph = Splitter.on("\n\n").splitToList(TEXT).get(1);

        assertThat(words(paragraph)).hasSizeLessThanOrEqualTo(25);
    }

    @Test
    void readme_picturesCodeAndCommand_comeBeforeTheFirstHeadingAndTable() {
        String top = TEXT.substring(0, TEXT.indexOf("\n## "));

        assertThat(top).contains("![", "```java", "```sh").doesNotContain("\n|");
        assertThat(Documents.blocks(Documents.README, "java").get(0).lines()).hasSizeBetween(5, 12);
    }

    private static List<String> words(String text) {
        return Splitter.on(CharMatcher.whitespace()).omitEmptyStrings().splitToList(text);
    }
}
