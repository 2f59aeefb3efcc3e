package dev.podcache.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Splitter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each page of docs/ has one reader, and begins with the question that he comes with. */
class PagesTest {

    static List<Path> pages() {
        return Documents.all().stream().filter(page -> page.startsWith("docs")).toList();
    }

    @ParameterizedTest
    @MethodSource("pages")
    void page_begins_withTheQuestionOfItsReader(Path page) {
        List<String> paragraphs = Splitter.on("\n\n").splitToList(Documents.text(page));

        assertThat(paragraphs.get(0)).startsWith("# ").doesNotContain("\n");
        assertThat(paragraphs.get(1)).matches("(?s)\\*[A-Z][^*?]+\\?\\*( .*)?");
    }
}
