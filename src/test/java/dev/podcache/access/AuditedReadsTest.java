package dev.podcache.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.podcache.access.AuditedReads.AuditedRead;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
