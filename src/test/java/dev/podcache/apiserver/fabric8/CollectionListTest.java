package dev.podcache.apiserver.fabric8;

import static dev.podcache.apiserver.fabric8.WireServer.listOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.http.ApiConnections;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Pod;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lists of many objects are read page by page; a list by name is small. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class CollectionListTest extends WireFixture {

    private static final String POD =
            "{\"metadata\":{\"name\":\"pod-%d\",\"namespace\":\"shop\",\"resourceVersion\":\"%d\"}}";

    private final WireServer server = closeLater(WireServer.speaking(HttpVersion.HTTP_2));

    @BeforeEach
    void connect() {
        connect(config(server.url()).build());
    }

    @ParameterizedTest
    @ValueSource(strings = {"spec.nodeName=worker-1", ""})
    void list_ofACollection_asksForAPage(String selector) throws InterruptedException {
        answerOf(pods(selector).list(TIMEOUT));

        assertThat(server.arrived.get(0).uri()).contains("limit=500");
    }

    @Test
    void list_inPages_followsContinueToTheLast() throws InterruptedException {
        server.handle((request, exchange) -> {
            int page = page(exchange);
            exchange.response().end(listOf("pods", page < 3 ? "page-" + (page + 1) : "", POD.formatted(page, page)));
            return true;
        });

        Listed<Pod> listed = answerOf(pods("spec.nodeName=worker-1").list(TIMEOUT));

        assertThat(names(listed)).containsExactly("pod-1", "pod-2", "pod-3");
        assertThat(listed.resourceVersion()).isEqualTo("7");
        assertThat(server.arrived)
                .allMatch(request -> request.uri().contains("limit=500"))
                .allMatch(request -> request.uri().contains("fieldSelector=spec.nodeName%3Dworker-1"));
    }

    @Test
    void list_inPages_isReportedAsWrittenOnce_withItsFirstPage() throws InterruptedException {
        AtomicInteger written = new AtomicInteger();
        List<Integer> writtenBefore = new CopyOnWriteArrayList<>();
        server.handle((request, exchange) -> {
            writtenBefore.add(written.get());
            int page = page(exchange);
            exchange.response().end(listOf("pods", page < 3 ? "page-" + (page + 1) : "", POD.formatted(page, page)));
            return true;
        });

        answerOf(pods("spec.nodeName=worker-1").list(TIMEOUT, written::incrementAndGet));

        assertThat(written).hasValue(1);
        assertThat(writtenBefore.subList(1, 3)).containsExactly(1, 1);
    }

    @Test
    void list_continueTokenExpired_isListedInFull() throws InterruptedException {
        server.handle((request, exchange) -> {
            if (!request.uri().contains("limit=")) {
                exchange.response().end(listOf("pods", "", POD.formatted(1, 1) + "," + POD.formatted(2, 2)));
            } else if (page(exchange) == 1) {
                exchange.response().end(listOf("pods", "page-2", POD.formatted(1, 1)));
            } else {
                WireServer.fail(exchange, 410, "Expired");
            }
            return true;
        });

        Listed<Pod> listed = answerOf(pods("spec.nodeName=worker-1").list(TIMEOUT));

        assertThat(names(listed)).containsExactly("pod-1", "pod-2");
    }

    @Test
    void list_byNameBeyond4MiB_isUnreadable() throws InterruptedException {
        String item =
                "{\"metadata\":{\"name\":\"a\",\"namespace\":\"shop\",\"resourceVersion\":\"5\"},\"data\":{\"k\":\"%s\"}}";
        server.handle((request, exchange) -> {
            exchange.response().end(Buffer.buffer(listOf("configmaps", "", item.formatted("x".repeat((4 << 20) + 1)))));
            return true;
        });
        ListerWatcher<ConfigMap> byName = following("a");

        assertThat(failureOf(byName.list(TIMEOUT)).reason()).isEqualTo(FailureReason.UNREADABLE);
    }

    /** A server that answers from its watch cache ignores the limit, and objects may be of a megabyte. */
    @Test
    void list_whosePagesAreTooLong_isListedInShorterOnes() throws InterruptedException {
        List<String> asked = new CopyOnWriteArrayList<>();
        Buffer filler = Buffer.buffer(" ".repeat(1 << 20));
        server.handle((request, exchange) -> {
            asked.add(
                    "limit=" + exchange.getParam("limit") + "&resourceVersion=" + exchange.getParam("resourceVersion"));
            int page = page(exchange);
            if (!exchange.getParam("limit").equals("50")) {
                exchange.response().setChunked(true);
                for (int sent = 0; sent <= ApiConnections.LONGEST_LIST; sent += filler.length()) {
                    exchange.response().write(filler);
                }
            }
            exchange.response().end(listOf("pods", page < 2 ? "page-2" : "", POD.formatted(page, page)));
            return true;
        });
        ListerWatcher<Pod> pods = pods("");

        assertThat(names(answerOf(pods.list(TIMEOUT)))).containsExactly("pod-1", "pod-2");
        assertThat(asked)
                .containsExactly(
                        "limit=500&resourceVersion=0",
                        "limit=500&resourceVersion=",
                        "limit=50&resourceVersion=",
                        "limit=50&resourceVersion=null");
    }

    @Test
    void list_ofACollection_asksForGzipAndUnderstandsIt() throws InterruptedException {
        server.handle((request, exchange) -> {
            String accepted = String.valueOf(exchange.getHeader("Accept-Encoding"));
            exchange.response()
                    .end(listOf("pods", "", accepted.contains("gzip") ? POD.formatted(1, 1) : POD.formatted(2, 2)));
            return true;
        });

        Listed<Pod> listed = answerOf(pods("spec.nodeName=worker-1").list(TIMEOUT));

        assertThat(names(listed)).containsExactly("pod-1");
    }

    private ListerWatcher<Pod> pods(String selector) {
        return api.listerWatcher(ObjectKind.POD, "", selector);
    }

    private static int page(HttpServerRequest exchange) {
        String token = exchange.getParam("continue");
        return token == null ? 1 : Integer.parseInt(token.substring("page-".length()));
    }

    private static List<String> names(Listed<Pod> listed) {
        return listed.items().stream()
                .map(item -> item.object().getMetadata().getName())
                .toList();
    }
}
