package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.net.InetAddresses;
import dev.podcache.object.Subject;
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
    private final ClientSource connection = source("10.0.0.7");
    private final Authentication authentication = new Authentication(reviews, () -> ClientCertificates.NONE, clock);

    @Test
    void token_accepted_isReviewedAgainAfterTwoMinutes() {
        assertThat(user("good")).map(Subject::name).contains("reader");
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
        CompletableFuture<Optional<Subject>> first = asked("good");
        CompletableFuture<Optional<Subject>> second = asked("good");
        assertThat(first).isNotDone();
        assertThat(second).isNotDone();

        gate.complete(gate);

        assertThat(first.join()).isEqualTo(second.join()).isPresent();
        assertThat(reviews.tokens).hasSize(1);
    }

    @Test
    void user_ofAToken_isInTheGroupOfAllUsers_once() {
        assertThat(user("good").orElseThrow().groups()).containsExactly("readers", "system:authenticated");
        reviews.owners.put("more", Subject.user("more", List.of("system:authenticated", "b"), "", Map.of()));
        assertThat(user("more").orElseThrow().groups()).containsExactly("system:authenticated", "b");
        assertThat(user("good").orElseThrow().extra()).isEqualTo(FakeReviews.READER.extra());
    }

    @Test
    void tokens_refusedOften_areNotReviewedFurtherUntilASecondHasPassed() {
        flood("random");
        assertThat(reviews.tokens).hasSize(ReviewLimit.MOST_OF_CONNECTION);
        assertThat(asked("another")).isCompletedExceptionally();
        // those of its network, on other connections
        ClientSource sibling = source("10.0.0.7");
        askedBy(sibling, "the ninth");
        askedBy(sibling, "the tenth");
        assertThat(reviews.tokens).hasSize(ReviewLimit.MOST_OF_SOURCE);
        assertThat(askedBy(sibling, "of the network")).isCompletedExceptionally();

        clock.advance(Duration.ofSeconds(1));

        assertThat(askedBy(sibling, "a second later")).isCompleted();
        assertThat(askedBy(sibling, "and at once")).isCompletedExceptionally();
    }

    @Test
    void tokens_floodFromManyNetworks_knownTokensAndOtherNetworksAreReviewed() {
        assertThat(user("good")).isPresent();
        for (int i = 0; i < 500; i++) {
            ClientSource flooding = source("10.1." + i / 250 + "." + i % 250);
            for (int j = 0; j < 20; j++) {
                askedBy(flooding, "random " + i + " " + j);
            }
        }
        reviews.owners.put("other", FakeReviews.READER);

        assertThat(user("good")).isPresent();
        assertThat(askedBy(source("10.2.0.1"), "other").join()).isPresent();
        // refused tokens displace no accepted ones, and each network that sent some shares a limit
        assertThat(reviews.tokens).hasSizeLessThan(700);
        clock.advance(Authentication.ACCEPTED_FOR);
        assertThat(user("good")).isPresent();
    }

    @Test
    void tokens_underReview_areAsManyAsTheLimitAtATime() {
        CompletableFuture<Object> gate = new CompletableFuture<>();
        reviews.held = gate;
        for (int i = 0; i < 20; i++) {
            askedBy(source("10.0.0.9"), "held " + i);
        }
        assertThat(reviews.tokens).hasSize(ReviewLimit.MOST_OF_SOURCE);
        for (int i = 0; i < 200; i++) {
            askedBy(source("10.3.0." + i), "held elsewhere " + i);
        }
        assertThat(reviews.tokens).hasSize(ReviewLimit.MOST_AT_A_TIME);

        gate.complete(gate);

        assertThat(askedBy(source("10.4.0.1"), "good").join()).isPresent();
    }

    @Test
    void networks_ofIpv6_areTheFirst64Bits() {
        assertThat(source("2001:db8::1").network())
                .isEqualTo(source("2001:db8::ffff:1").network())
                .isNotEqualTo(source("2001:db8:0:1::1").network());
        assertThat(source("10.0.0.1").network()).isNotEqualTo(source("10.0.0.2").network());
    }

    private void flood(String name) {
        for (int i = 0; i < 50; i++) {
            asked(name + i);
        }
    }

    private static ClientSource source(String address) {
        return ClientSource.of(InetAddresses.forString(address));
    }

    private CompletableFuture<Optional<Subject>> askedBy(ClientSource from, String token) {
        KubeletRequest request = Requested.of("GET", "/pods", "Bearer " + token.replace(' ', '-'), List.of());
        return authentication.userOf(new KubeletRequest(
                request.method(),
                request.path(),
                request.query(),
                request.authorization(),
                request.host(),
                request.certificates(),
                request.upgrade(),
                request.subprotocols(),
                "",
                from));
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

    private Optional<Subject> user(String token) {
        return asked(token).join();
    }

    private CompletableFuture<Optional<Subject>> asked(String token) {
        return askedBy(connection, token);
    }
}
