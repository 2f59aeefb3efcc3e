package dev.podcache.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;
import java.nio.file.Path;
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

    /** What is it, for whom, why not an informer, show me. */
    @Test
    void readme_firstScreen_answersWhoeverDecides() {
        String top = TEXT.substring(0, TEXT.indexOf("\n## "));

        assertThat(top)
                .containsSubsequence("**Caches", "**For whom:**", "**Why not an informer?**", "```java", "```sh")
                .contains("docs/comparison.md#when-an-informer-is-the-better-choice", "docs/performance.md");
        assertThat(top.lines()).hasSizeLessThanOrEqualTo(50);
    }

    /** Whoever installs it reads its sources and its Javadoc in an editor. */
    @Test
    void readme_installs_withSourcesAndJavadoc() {
        String release = Splitter.on("<id>release</id>")
                .splitToList(Documents.text(Path.of("pom.xml")))
                .get(1);

        assertThat(Documents.blocks(Documents.README, "sh")).contains("mvn -q -Prelease install -DskipTests\n");
        assertThat(release.substring(0, release.indexOf("</profile>")))
                .contains("<goal>jar-no-fork</goal>", "<artifactId>maven-javadoc-plugin</artifactId>");
    }

    private static List<String> words(String text) {
        return Splitter.on(CharMatcher.whitespace()).omitEmptyStrings().splitToList(text);
    }
}
