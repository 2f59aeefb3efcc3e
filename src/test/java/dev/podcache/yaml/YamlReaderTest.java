package dev.podcache.yaml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.testing.KubectlBinary;
import dev.podcache.yaml.YamlNode.Mapping;
import dev.podcache.yaml.YamlNode.Scalar;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class YamlReaderTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final YamlReader.Limits LIMITS = new YamlReader.Limits(1 << 20, 10_000);

    /** The value of a field {@code v}, and the JSON that kubectl makes of it. */
    private static final String[][] SCALARS = {
        {"y", "true"},
        {"Y", "true"},
        {"yes", "true"},
        {"YES", "true"},
        {"on", "true"},
        {"On", "true"},
        {"true", "true"},
        {"n", "false"},
        {"No", "false"},
        {"off", "false"},
        {"FALSE", "false"},
        {"tRUE", "\"tRUE\""},
        {"", "null"},
        {"~", "null"},
        {"Null", "null"},
        {"nUll", "\"nUll\""},
        {"0644", "420"},
        {"0o17", "15"},
        {"0x1F", "31"},
        {"0b11", "3"},
        {"-0x10", "-16"},
        {"0b", "\"0b\""},
        {"0xg", "\"0xg\""},
        {"+012", "10"},
        {"1_000", "1000"},
        {"09", "9"},
        {"08.5", "8.5"},
        {"-0", "0"},
        {"1e3", "1000"},
        {"1.", "1"},
        {".5", "0.5"},
        {"-.5e3", "-500"},
        {"1e400", "\"1e400\""},
        {"1e-400", "0"},
        {"1e", "\"1e\""},
        {".", "\".\""},
        {"9223372036854775808", "9223372036854775808"},
        {"12345678901234567890", "12345678901234567890"},
        {"99999999999999999999", "100000000000000000000"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"2001-12-14T21:59:43.10-05:00", "\"2001-12-14T21:59:43.10-05:00\""},
        {"12:30:45", "\"12:30:45\""},
        {"1,000", "\"1,000\""},
        {"'yes'", "\"yes\""},
        {"\"1\"", "\"1\""},
        {"!!str 5", "\"5\""},
        {"!!int '5'", "5"},
        {"!!float 1", "1"},
        {"!!binary aGVsbG8=", "\"hello\""},
        {"!foo bar", "\"bar\""},
        {"x # a comment", "\"x\""},
        {"x#none", "\"x#none\""},
        {"'it''s'", "\"it's\""},
        {"\"\\x41\\u00e9\"", "\"A\u00e9\""},
    };

    /** Documents, and the JSON that kubectl makes of them. */
    private static final String[][] DOCUMENTS = {
        {"{y: 1, 2: b, 1.5: c, on: d}", "{\"true\": \"d\", \"2\": \"b\", \"1.5\": \"c\"}"},
        {"a:\tb", "{\"a\": \"b\"}"},
        {"a:\t\"x\"\nb:\t[1,\t2]", "{\"a\": \"x\", \"b\": [1, 2]}"},
        {"a: 'x'\t\nb: 2", "{\"a\": \"x\", \"b\": 2}"},
        {"a:\t\n  - x", "{\"a\": [\"x\"]}"},
        {"'a'\t: 1", "{\"a\": 1}"},
        {"a: |\n  x\ty\n", "{\"a\": \"x\\ty\\n\"}"},
        {"a: >-\n  x\n  y\n", "{\"a\": \"x y\"}"},
        {"key: |+\n  x\n\n", "{\"key\": \"x\\n\\n\"}"},
        {"a: &x {k: 1, l: 2}\nb: {<<: *x, k: 9}", "{\"a\": {\"k\": 1, \"l\": 2}, \"b\": {\"k\": 9, \"l\": 2}}"},
        {"a: &x {k: 1}\nb:\n  k: 9\n  <<: *x", "{\"a\": {\"k\": 1}, \"b\": {\"k\": 1}}"},
        {
            "a: &x {k: 1}\nc: &z {k: 2, m: 3}\nb: {<<: [*x, *z]}",
            "{\"a\": {\"k\": 1}, \"c\": {\"k\": 2, \"m\": 3}, \"b\": {\"k\": 1, \"m\": 3}}"
        },
        {"<<: {a: 1}", "{\"a\": 1}"},
        {"a: {\"<<\": {b: 1}}", "{\"a\": {\"<<\": {\"b\": 1}}}"},
        {"a: 1\na: 2", "{\"a\": 2}"},
        {"a: [1,2,]", "{\"a\": [1, 2]}"},
        {"a: {b, c: 1}", "{\"a\": {\"b\": null, \"c\": 1}}"},
        {"a: [b: 1]", "{\"a\": [{\"b\": 1}]}"},
        {"a:\n- 1\n- 2", "{\"a\": [1, 2]}"},
        {"a: {\"b\":1}", "{\"a\": {\"b\": 1}}"},
        {"a: &b1 x\nc: *b1", "{\"a\": \"x\", \"c\": \"x\"}"},
        {"a: x\n  y", "{\"a\": \"x y\"}"},
    };

    @TempDir
    private Path directory = Path.of("");

    static Stream<Arguments> documents() {
        Stream<String[]> scalars =
                Stream.of(SCALARS).map(each -> new String[] {"v: " + each[0], "{\"v\": " + each[1] + "}"});
        return Stream.concat(scalars, Stream.of(DOCUMENTS)).map(each -> Arguments.of(each[0], each[1]));
    }

    @ParameterizedTest
    @MethodSource("documents")
    void read_text_isWhatKubectlMakesOfIt(String yaml, String json) throws JsonProcessingException {
        assertThat(tree(YamlReader.read(yaml, LIMITS).get(0).value())).isEqualTo(JSON.readTree(json));
    }

    /** Where kubectl is installed: the table above, asked again. An extension of a kubeconfig may have any content. */
    @Test
    void read_allTexts_areWhatKubectlMakesOfThem() throws Exception {
        List<Arguments> documents = documents().toList();
        StringBuilder kubeconfig = new StringBuilder("apiVersion: v1\nkind: Config\npreferences:\n  extensions:\n");
        for (int number = 0; number < documents.size(); number++) {
            kubeconfig.append("  - name: e").append(1000 + number).append("\n    extension:\n");
            ((String) documents.get(number).get()[0])
                    .lines()
                    .forEach(line -> kubeconfig.append("      ").append(line).append('\n'));
        }
        JsonNode extensions = viewedByKubectl(kubeconfig.toString()).at("/preferences/extensions");

        assertThat(extensions).hasSameSizeAs(documents);
        for (int number = 0; number < documents.size(); number++) {
            assertThat(extensions.get(number).get("extension"))
                    .as("%s", documents.get(number).get()[0])
                    .isEqualTo(JSON.readTree((String) documents.get(number).get()[1]));
        }
    }

    @Test
    void read_millionTabs_takesNoTime() {
        String tabs = "\t".repeat(1_000_000);

        assertThat(assertTimeoutPreemptively(
                        Duration.ofSeconds(30), () -> YamlReader.read("a:" + tabs + "b\n", LIMITS)))
                .singleElement()
                .extracting(YamlNode::value)
                .hasToString("{a=b}");
    }

    static Stream<Arguments> refused() {
        return Stream.of(
                Arguments.of("a:\n\tb: 1", 2, 1, "a tab indents: use spaces"),
                Arguments.of("a: 1\n\tb: 2", 2, 1, "a tab indents: use spaces"),
                Arguments.of("- \ta", 1, 3, "a tab indents: use spaces"),
                Arguments.of("? a\n: \tb", 2, 3, "a tab indents: use spaces"),
                Arguments.of("a: |\t\n  x", 1, 5, "expected chomping or indentation indicators"),
                Arguments.of("a: !!str\tcanary", 1, 9, "expected ' '"),
                Arguments.of("a: b: c", 1, 5, "mapping values are not allowed here"),
                Arguments.of("x: 1\na: *canary", 2, 4, "found undefined alias"),
                Arguments.of("a: &a [*a]", 1, 8, "it contains itself through an alias: write it out"),
                Arguments.of("a: [", 1, 5, ""),
                Arguments.of("a: @canary", 1, 4, ""),
                Arguments.of("a: {<<: 1}", 1, 9, "a merge key << needs a map, or a list of maps, for its value"),
                Arguments.of("? [canary]\n: b", 1, 3, "the name of a field must be text"),
                Arguments.of("~: 1", 1, 1, "the name of a field must be text"),
                Arguments.of("a: .inf", 1, 4, "it is no number that Kubernetes knows"),
                Arguments.of("a: !!int x", 1, 4, "it is not of the type that its tag names"),
                Arguments.of("a: !!null x", 1, 4, "it is not of the type that its tag names"),
                Arguments.of("a: !!binary '*'", 1, 4, "it is tagged !!binary, and is not base64"),
                Arguments.of("a: \"\\Ucanary", 1, 1, ""),
                Arguments.of("a: !!%9 canary", 1, 1, ""),
                Arguments.of("a: 1\nb: \u0001", 2, 1, "it has a control character"));
    }

    @ParameterizedTest
    @MethodSource("refused")
    void read_noYaml_isRefusedWithItsPlaceAndWithoutItsContent(String text, int line, int column, String problem) {
        assertThatThrownBy(() -> YamlReader.read(text, LIMITS))
                .isInstanceOfSatisfying(YamlException.class, e -> {
                    assertThat(e.line()).isEqualTo(line);
                    assertThat(problem.isEmpty() ? column : e.column()).isEqualTo(column);
                })
                .hasMessageStartingWith("line " + line + ", column ")
                .hasMessageContaining(problem)
                .hasMessageNotContaining("canary")
                .hasNoCause();
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTF-8", "UTF-16LE", "UTF-16BE"})
    void read_byteOrderMark_tellsTheEncoding(String charset) {
        byte[] text = "\ufeffa: \u00e9\u4e16\n".getBytes(Charset.forName(charset));

        assertThat(YamlReader.read(text, LIMITS).get(0).value()).hasToString("{a=\u00e9\u4e16}");
    }

    @Test
    void read_noUtf8_isRefused() {
        assertThatThrownBy(() -> YamlReader.read(new byte[] {'a', ':', ' ', (byte) 0xc3, 0x28}, LIMITS))
                .hasMessage("line 1, column 1: it is not text in UTF-8 or UTF-16");
    }

    @Test
    void read_nothing_hasNoDocument() {
        assertThat(YamlReader.read("", LIMITS)).isEmpty();
        assertThat(YamlReader.read("# nothing\n", LIMITS)).isEmpty();
    }

    @Test
    void read_severalDocuments_areAllThere() {
        assertThat(YamlReader.read("a: 1\n---\n---\nb: &x 2\n", LIMITS).stream().map(YamlNode::value))
                .extracting(String::valueOf)
                .containsExactly("{a=1}", "null", "{b=2}");
        assertThatThrownBy(() -> YamlReader.read("a: &x 1\n---\nb: *x\n", LIMITS))
                .hasMessage("line 3, column 4: found undefined alias: define its anchor before it");
    }

    @Test
    void read_nodes_knowTheirPlaceAndWhatIsRepeated() {
        Mapping map =
                (Mapping) YamlReader.read("a: 1\nb:\n  c: 0x10\na: 2\n", LIMITS).get(0);

        assertThat(map.field("b"))
                .isInstanceOfSatisfying(
                        Mapping.class, inner -> assertThat(inner.field("c")).isEqualTo(new Scalar(16, "0x10", 3, 6)));
        assertThat(map.repeated()).isEqualTo(Map.of("a", new Scalar("a", "a", 4, 1)));
        assertThat(map.field("nope")).isNull();
    }

    /** 462 bytes that stand for ten to the ninth values. */
    @Test
    void read_aliasesOfAliases_areBounded() {
        StringBuilder text = new StringBuilder("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for (int level = 1; level < 9; level++) {
            String alias = "*a" + (level - 1);
            text.append("a" + level + ": &a" + level + " ["
                    + String.join(",", List.of(alias, alias, alias, alias, alias, alias, alias, alias, alias, alias))
                    + "]\n");
        }

        assertThatThrownBy(() -> YamlReader.read(text.toString(), LIMITS))
                .hasMessageEndingWith("it has more than 10000 values, its aliases replaced: write fewer");
    }

    @Test
    void read_hundredsOfAliases_areFine() {
        String text = "a: &a {k: v}\nb: [" + String.join(", ", "*a".repeat(2000).split("(?<=a)")) + "]\n";

        assertThat(String.valueOf(YamlReader.read(text, LIMITS).get(0).value())).hasSizeGreaterThan(10_000);
    }

    @Test
    void read_deepNesting_isBounded() {
        assertThat(YamlReader.read("[".repeat(200) + "]".repeat(200), LIMITS)).hasSize(1);
        assertThatThrownBy(() -> YamlReader.read("[".repeat(201) + "]".repeat(201), LIMITS))
                .hasMessage("line 1, column 201: it is nested deeper than 200 levels: write it flatter");
        assertThatThrownBy(() -> YamlReader.read(
                        "a: &a " + "[".repeat(120) + "]".repeat(120) + "\nb: " + "[".repeat(120) + "*a"
                                + "]".repeat(120),
                        LIMITS))
                .hasMessageEndingWith("it is nested deeper than 200 levels: write it flatter");
    }

    @Test
    void read_largeText_isBounded() {
        assertThatThrownBy(() -> YamlReader.read("#".repeat(101), new YamlReader.Limits(100, 10)))
                .hasMessage("line 1, column 1: the text is larger than 100 bytes: give a part of it");
        assertThat(YamlReader.read("#".repeat(4 << 20), new YamlReader.Limits(4 << 20, 10)))
                .isEmpty();
    }

    @Test
    void toString_ofEveryNode_showsNoContent() {
        YamlNode node =
                YamlReader.read("{canary: [canary], b: {c: canary}}", LIMITS).get(0);

        assertThat(node).hasToString("a map of 2 fields at line 1");
        assertThat(((Mapping) node).fields().get("canary")).hasToString("a list of 1 at line 1");
        assertThat(new Scalar("canary", "canary", 3, 1)).hasToString("a scalar at line 3");
    }

    private JsonNode viewedByKubectl(String kubeconfig) throws IOException, InterruptedException {
        Path file = Files.writeString(directory.resolve("kubeconfig"), kubeconfig);
        Path output = directory.resolve("output");
        Process kubectl = new ProcessBuilder(
                        KubectlBinary.path().toString(),
                        "config",
                        "view",
                        "--raw",
                        "-o",
                        "json",
                        "--kubeconfig=" + file)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertThat(kubectl.waitFor()).as("%s", Files.readString(output)).isZero();
        return JSON.readTree(Files.readString(output, StandardCharsets.UTF_8));
    }

    /** Through text, so that numbers have the types that Jackson gives them. */
    private static JsonNode tree(@Nullable Object value) throws JsonProcessingException {
        return JSON.readTree(JSON.writeValueAsString(value));
    }
}
