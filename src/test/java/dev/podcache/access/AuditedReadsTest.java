package dev.podcache.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.entry;

import dev.podcache.access.AuditedReads.AuditedRead;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AuditedReadsTest {

    private static final String LINE =
            "{\"kind\":\"Event\",\"auditID\":\"%s\",\"verb\":\"%s\",\"user\":{\"username\":\"%s\"},"
                    + "\"objectRef\":{\"resource\":\"secrets\",\"namespace\":\"shop\",\"name\":\"%s\"},\"requestURI\":\"%s\","
                    + "\"responseStatus\":{\"code\":%d}}\n";

    @TempDir
    private Path folder;

    @Test
    void reads_areThoseOfTheUserThatWereAllowed_byNameOrFieldSelector() throws IOException {
        String text = LINE.formatted("1", "get", "operator", "db", "/api/v1/namespaces/shop/secrets/db", 200)
                + LINE.formatted("2", "get", "operator", "db", "/api/v1/namespaces/shop/secrets/db", 200)
                + LINE.formatted("3", "get", "somebody", "db", "/x", 200)
                + LINE.formatted("4", "get", "operator", "other", "/x", 403)
                + LINE.formatted("5", "update", "operator", "db", "/x", 200)
                + LINE.formatted("6", "watch", "operator", "", "/x?watch=1&fieldSelector=metadata.name%3Dcert&a=b", 200)
                + LINE.formatted("6", "watch", "operator", "", "/x?watch=1&fieldSelector=metadata.name%3Dcert&a=b", 200)
                + LINE.formatted("7", "list", "operator", "", "/api/v1/namespaces/shop/secrets?limit=500", 200)
                + "not JSON\n\n[1]\n";

        assertThat(AuditedReads.reads(Files.writeString(folder.resolve("audit.log"), text), "operator"))
                .hasSize(3)
                .containsEntry(new AuditedRead("get", "", "secrets", "shop", "db"), 2)
                .containsEntry(new AuditedRead("watch", "", "secrets", "shop", "cert"), 1)
                .containsEntry(new AuditedRead("list", "", "secrets", "shop", ""), 1);
    }

    @Test
    void reads_ofEventsWithoutAnId_allCount() throws IOException {
        String event = LINE.formatted("", "get", "operator", "db", "/x", 200).replace("\"auditID\":\"\",", "");

        assertThat(AuditedReads.reads(Files.writeString(folder.resolve("audit.log"), event + event), "operator"))
                .containsExactly(entry(new AuditedRead("get", "", "secrets", "shop", "db"), 2));
    }

    @Test
    void reads_ofAUserWithoutReads_areNone() throws IOException {
        Path file = Files.writeString(
                folder.resolve("audit.log"), LINE.formatted("1", "update", "operator", "db", "/x", 200));

        assertThat(AuditedReads.reads(file, "operator")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "2026-11-29T00:00:00.000000000Z stdout F {event}",
                "{\"kind\":\"EventList\",\"apiVersion\":\"audit.k8s.io/v1\",\"items\":[{event}]}",
                "{\n  \"kind\": \"Event\",\n  \"verb\": \"get\",\n  \"user\": {\n    \"username\": \"operator\"\n  }\n}"
            })
    void reads_ofAFileWithoutAnEventALine_areRefused(String text) throws IOException {
        String event = LINE.formatted("1", "get", "operator", "db", "/x", 200).strip();
        Path file = Files.writeString(folder.resolve("audit.log"), text.replace("{event}", event));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> AuditedReads.reads(file, "operator"))
                .withMessage("has no event of audit.k8s.io: give a file with one event a line, as JSON");
    }

    @Test
    void reads_ofOthersAlone_areRefused_withTheNumberOfEvents() throws IOException {
        String text = LINE.formatted("1", "get", "operator", "db", "/x", 200) + "\n"
                + LINE.formatted("2", "get", "somebody", "db", "/x", 403);
        Path file = Files.writeString(folder.resolve("audit.log"), text);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> AuditedReads.reads(file, "operatr"))
                .withMessage("has 2 events, none by operatr: check the name of the operator");
    }

    @Test
    void reads_ofNoFile_fails() {
        assertThatExceptionOfType(UncheckedIOException.class)
                .isThrownBy(() -> AuditedReads.reads(folder.resolve("absent"), "operator"));
    }

    @Test
    void read_asText_namesVerbAndObject() {
        assertThat(new AuditedRead("get", "", "secrets", "shop", "db")).hasToString("get secrets shop/db");
        assertThat(new AuditedRead("list", "example.dev", "themes", "", ""))
                .hasToString("list themes.example.dev without a name in all namespaces");
    }
}
