package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.AccessReviews.ReviewedUser;
import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AuthenticationTest {

    private final ManualTimekeeper clock = new ManualTimekeeper();
    private final FakeReviews reviews = new FakeReviews();
    private final Authentication authentication = new Authentication(reviews, () -> ClientCertificates.NONE, clock);

    @Test
    void token_accepted_isReviewedAgainAfterTwoMinutes() {
        assertThat(user("good")).map(ReviewedUser::name).contains("reader");
        clock.advance(Authentication.ACCEPTED_FOR.minusNanos(1));
        assertThat(user("good")).isPresent();
        assertThat(reviews.tokens).hasSize(1);

        reviews.owners.clear();
        clock.advance(Duration.ofNanos(1));

        assertThat(user("good")).isEmpty();
        assertThat(reviews.tokens).hasSize(2);
    }

    @Test
    void token_readAgain_doesNotLiveLonger() {
        user("good");
        clock.advance(Duration.ofSeconds(90));
        user("good");
        clock.advance(Duration.ofSeconds(30));
        user("good");

        assertThat(reviews.tokens).hasSize(2);
    }

    @Test
    void token_refused_isReviewedAgainAfterTenSeconds() {
        assertThat(user("new")).isEmpty();
        assertThat(user("new")).isEmpty();
        assertThat(reviews.tokens).hasSize(1);

        reviews.owners.put("new", FakeReviews.READER);
        clock.advance(Authentication.REFUSED_FOR);

        assertThat(user("new")).isPresent();
    }

    @Test
    void token_reviewFails_isReviewedAgainAtOnce() {
        reviews.failing = true;
        assertThat(asked("good")).isCompletedExceptionally();

        reviews.failing = false;

        assertThat(user("good")).isPresent();
        assertThat(reviews.tokens).hasSize(2);
    }

    @Test
    void token_ofManyRequestsAtATime_isReviewedOnce() {
        CompletableFuture<Object> gate = new CompletableFuture<>();
        reviews.held = gate;
        CompletableFuture<Optional<ReviewedUser>> first = asked("good");
        CompletableFuture<Optional<ReviewedUser>> second = asked("good");
        assertThat(first).isNotDone();
        assertThat(second).isNotDone();

        gate.complete(gate);

        assertThat(first.join()).isEqualTo(second.join()).isPresent();
        assertThat(reviews.tokens).hasSize(1);
    }

    @Test
    void user_ofAToken_isInTheGroupOfAllUsers_once() {
        assertThat(user("good").orElseThrow().groups()).containsExactly("readers", "system:authenticated");
        reviews.owners.put("more", new ReviewedUser("more", "", List.of("system:authenticated", "b"), Map.of()));
        assertThat(user("more").orElseThrow().groups()).containsExactly("system:authenticated", "b");
        assertThat(user("good").orElseThrow().extra()).isEqualTo(FakeReviews.READER.extra());
    }

    @ParameterizedTest
    @ValueSource(strings = {"bearer good", "BEARER good", " Bearer good", "Bearer good trailing"})
    void authorization_ofBearer_isReadAsUpstreamReadsIt(String authorization) {
        assertThat(authentication
                        .userOf(Requested.of("GET", "/pods", authorization, List.of()))
                        .join())
                .isPresent();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "Bearer", "Bearer ", "Bearer  good", "Token good", "good"})
    void authorization_withoutABearerToken_isNotReviewed(String authorization) {
        assertThat(authentication
                        .userOf(Requested.of("GET", "/pods", authorization, List.of()))
                        .join())
                .isEmpty();
        assertThat(reviews.tokens).isEmpty();
    }

    @Test
    void toString_ofARequest_hasNoToken() {
        KubeletRequest request = Requested.of("GET", "/exec/a/b/c?command=secret", "Bearer hidden", List.of());

        assertThat(request).hasToString("GET \"/exec/a/b/c\"");
    }

    private Optional<ReviewedUser> user(String token) {
        return asked(token).join();
    }

    private CompletableFuture<Optional<ReviewedUser>> asked(String token) {
        return authentication.userOf(Requested.of("GET", "/pods", "Bearer " + token, List.of()));
    }
}
