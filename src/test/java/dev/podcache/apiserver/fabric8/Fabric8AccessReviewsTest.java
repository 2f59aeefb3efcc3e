package dev.podcache.apiserver.fabric8;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.AccessReviews;
import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.object.Subject;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reviews by a server that answers what a test wrote down. */
@ExtendWith(NoLeaks.class)
class Fabric8AccessReviewsTest {

    private static final Subject JANE = Subject.user("jane", List.of("a"), "u-1", Map.of("k", List.of("v")));
    private static final ResourceAccess LOGS = new ResourceAccess("get", "nodes", "proxy", "worker-1");

    private final ScriptedServer network = new ScriptedServer();
    private final KubernetesClient client = new KubernetesClientBuilder()
            .withConfig(new ConfigBuilder(Config.empty())
                    .withMasterUrl(network.url())
                    .build())
            .build();
    private final Fabric8ApiServer server = Fabric8ApiServer.of(client, new RequestLimit(0.001, 1));
    private final AccessReviews reviews = server.accessReviews(Duration.ofSeconds(20));

    @AfterEach
    void close() {
        server.close();
        client.close();
        network.close();
    }

    @Test
    void reviewToken_accepted_returnsTheOwner() {
        answer("""
                {"authenticated": true, "user": {"username": "jane", "uid": "u-1", "groups": ["a"], "extra": {"k": ["v"]}}}
                """);

        assertThat(reviews.reviewToken("t").join()).contains(JANE);
        assertThat(network.requests)
                .singleElement()
                .asString()
                .startsWith("POST /apis/authentication.k8s.io/v1/tokenreviews ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"authenticated\": false, \"error\": \"expired\"}",
                "{\"authenticated\": true}",
                "{\"authenticated\": true, \"user\": {\"username\": \"\"}}",
                "{\"authenticated\": \"true\", \"user\": {\"username\": \"jane\"}}"
            })
    void reviewToken_notAccepted_isEmpty(String status) {
        answer(status);

        assertThat(reviews.reviewToken("t").join()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"allowed\": true}", "{\"allowed\": true, \"denied\": false}"})
    void review_allowed_isTrue(String status) {
        answer(status);

        assertThat(reviews.review(JANE, LOGS).join().allowed()).isTrue();
        assertThat(network.requests)
                .singleElement()
                .asString()
                .startsWith("POST /apis/authorization.k8s.io/v1/subjectaccessreviews ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{\"allowed\": false}", "{\"allowed\": true, \"denied\": true}", "{\"allowed\": 1}"})
    void review_notAllowed_isFalse(String status) {
        answer(status);

        assertThat(reviews.review(JANE, LOGS).join().allowed()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "null", "[]", "{", "{\"spec\": {\"token\": \"" + NoLeaks.CANARY + "\"}, \"status\": 1}"})
    void answer_unreadable_failsWithoutItsContent(String body) {
        network.answer("201 Created", body);

        ApiServerException failure = failure(reviews.reviewToken("t" + NoLeaks.CANARY));

        assertThat(NoLeaks.saw(failure).reason()).isEqualTo(FailureReason.UNREADABLE);
    }

    @Test
    void reviews_haveALimitOfTheirOwn() {
        answer("{\"allowed\": true}");

        reviews.review(JANE, LOGS).join();

        assertThat(failure(reviews.review(JANE, LOGS)).reason()).isEqualTo(FailureReason.THROTTLED);
    }

    private void answer(String status) {
        network.answer("201 Created", "{\"kind\": \"Review\", \"apiVersion\": \"v1\", \"status\": " + status + "}");
    }

    private static ApiServerException failure(CompletableFuture<?> future) {
        return (ApiServerException) Objects.requireNonNull(
                future.handle((value, failure) -> failure).join());
    }
}
