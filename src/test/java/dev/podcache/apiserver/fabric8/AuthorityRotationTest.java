package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.testing.NoLeaks;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The file of the authorities that a client trusts is replaced. */
@ExtendWith(NoLeaks.class)
class AuthorityRotationTest extends WireFixture {

    @TempDir
    private Path folder;

    @Test
    void authorityFileReplaced_serverOfTheNewOne_isTrusted() throws IOException, InterruptedException {
        WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));
        Path authority =
                Files.writeString(folder.resolve("ca.pem"), WireCertificates.clientPem("of another authority"));
        connect(config(server.url())
                .withCaCertData(null)
                .withCaCertFile(authority.toString())
                .build());
        assertThat(failureOf(make(RequestKind.GET, "before")).reason()).isEqualTo(FailureReason.UNAVAILABLE);

        Files.writeString(authority, WireCertificates.authorityPem());

        await().until(() -> isAnswered(make(RequestKind.GET, "after")));
    }

    private static boolean isAnswered(CompletableFuture<?> request) {
        await().until(request::isDone);
        return !request.isCompletedExceptionally();
    }
}
