package dev.podcache.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FieldPathTest {

    private static final Map<String, ?> WEBSITE = Map.of(
            "metadata", Map.of("annotations", Map.of("example.dev/secret", "noted")),
            "spec",
                    Map.of(
                            "tls", Map.of("secretName", "cert"),
                            "port", 80,
                            "empty", "",
                            "names", List.of("a", "b", "a"),
                            "credentials",
                                    Arrays.asList(
                                            Map.of("secretRef", Map.of("name", "one")),
                                            Collections.singletonMap("secretRef", null),
                                            null,
                                            "text",
                                            Map.of("secretRef", Map.of("name", "two")))));

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                ".spec.tls.secretName | cert",
                ".spec.credentials[*].secretRef.name | one,two",
                ".spec.credentials[0].secretRef.name | one",
                ".spec.credentials[9].secretRef.name |''",
                ".spec['tls'].secretName | cert",
                ".metadata.annotations['example.dev/secret'] | noted",
                ".spec.names[*] | a,b",
                ".spec.port |''",
                ".spec.empty |''",
                ".spec.tls |''",
                ".spec.tls.secretName.more |''",
                ".spec.tls[*] |''",
                ".status.nothing |''"
            })
    void texts_ofAnObject_areThoseAtThePath(String path, String expected) {
        assertThat(String.join(",", FieldPath.parse(path).texts(WEBSITE))).isEqualTo(expected);
        assertThat(FieldPath.parse(path)).hasToString(path).isEqualTo(FieldPath.parse(path));
    }

    @Test
    void texts_ofAnEmptyObject_areNone() {
        assertThat(FieldPath.parse(".spec[*].a").texts(Map.of())).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "", " ", "spec.a", ".", "..a", ".a.", ".a[", ".a[x]", ".a[-1]", ".a[*", "$.a", "{.a}", ".a b", "[0].a",
                ".a['']"
            })
    void parse_ofNoPath_isRefusedWithTheRemedy(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FieldPath.parse(text))
                .withMessageContaining(".spec.tls.secretName");
    }
}
