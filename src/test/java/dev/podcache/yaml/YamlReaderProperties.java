package dev.podcache.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class YamlReaderProperties {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final YamlReader.Limits LIMITS = new YamlReader.Limits(1 << 20, 10_000);

    /** JSON is YAML: what Jackson writes is what is read. */
    @Property
    void read_json_isItsValue(@ForAll("values") Object value) throws JsonProcessingException {
        String json = JSON.writeValueAsString(value);

        assertThat(YamlReader.read(json, LIMITS).get(0).value()).isEqualTo(JSON.readValue(json, Object.class));
    }

    /** Whatever the text, it is read, or refused by the one exception without its content. */
    @Property
    void read_anyText_isReadOrRefused(@ForAll("texts") String text) {
        try {
            YamlReader.read(text, LIMITS).forEach(YamlNode::value);
        } catch (YamlException e) {
            assertThat(e).hasNoCause().hasMessageMatching("line \\d+, column \\d+: .*");
            assertThat(e.getMessage()).doesNotContain("canary");
        }
    }

    @Provide
    Arbitrary<Object> values() {
        Arbitrary<Object> leaves = Arbitraries.oneOf(
                Arbitraries.longs().map(each -> (Object) each),
                Arbitraries.of(true, false).map(each -> (Object) each),
                Arbitraries.strings()
                        .withChars("yes:-#&*!|>'\"%@`{}[], \n\t\\/\u00e9\u4e16")
                        .ofMaxLength(12)
                        .map(each -> (Object) each));
        Arbitrary<String> names =
                Arbitraries.strings().withChars("abc .-\"").ofMinLength(1).ofMaxLength(6);
        return Arbitraries.recursive(
                () -> leaves,
                inner -> Arbitraries.oneOf(
                        inner.list().ofMaxSize(4).map(each -> (Object) each),
                        Arbitraries.maps(names, inner).ofMaxSize(4).map(each -> (Object) each)),
                0,
                3);
    }

    @Provide
    Arbitrary<String> texts() {
        return Arbitraries.of(
                        "canary",
                        "a",
                        ":",
                        ": ",
                        "- ",
                        "\n",
                        "  ",
                        "\t",
                        "[",
                        "]",
                        "{",
                        "}",
                        ",",
                        "&c ",
                        "*c",
                        "<<: ",
                        "'",
                        "\"",
                        "\\",
                        "|\n",
                        ">\n",
                        "!!int ",
                        "!!binary ",
                        "!",
                        "%",
                        "---\n",
                        "...\n",
                        "# ",
                        "1",
                        "0x",
                        "~",
                        "? ",
                        "\u0000",
                        "\ud800",
                        "\ufeff")
                .list()
                .ofMaxSize(25)
                .map(parts -> String.join("", parts));
    }
}
