package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WatchedTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");
    private static final ObjectKey WEB = ObjectKey.of("shop", "web");
    private static final Duration TOOK = Duration.ofMillis(5);

    private final WatchNews news = new WatchNews(event -> {});
    private final Watched watched = new Watched(news);

    @AfterEach
    void close() {
        news.close();
    }

    @Test
    void tally_eachTurn_isCountedOnceWhateverTheAttempts() {
        watched.failed(ObjectKind.SECRET, DB, FailureReason.FORBIDDEN);
        watched.synced(ObjectKind.SECRET, DB, TOOK);
        watched.failed(ObjectKind.SECRET, DB, FailureReason.UNAVAILABLE);
        watched.failed(ObjectKind.SECRET, DB, FailureReason.UNAVAILABLE);
        watched.synced(ObjectKind.SECRET, DB, TOOK);

        assertThat(watched.tally()).isEqualTo(new Watched.Tally(1, 1, 1));
    }

    @Test
    void versionIsForgotten_isNoLoss() {
        watched.synced(ObjectKind.SECRET, DB, TOOK);
        watched.failed(ObjectKind.SECRET, DB, FailureReason.EXPIRED);

        assertThat(watched.isLost(ObjectKind.SECRET, DB)).isFalse();
        assertThat(watched.tally()).isEqualTo(new Watched.Tally(1, 0, 0));
    }

    @Test
    void isKnown_watchThatNeverWasLive_isNot() {
        assertThat(watched.isKnown(ObjectKind.SECRET, DB)).isFalse();
        watched.failed(ObjectKind.SECRET, DB, FailureReason.FORBIDDEN);

        assertThat(watched.isKnown(ObjectKind.SECRET, DB)).isFalse();
        assertThat(watched.isLost(ObjectKind.SECRET, DB)).isFalse();
    }

    @Test
    void isLost_anotherKindOfThatName_isNot() {
        watched.synced(ObjectKind.SECRET, DB, TOOK);
        watched.synced(ObjectKind.CONFIG_MAP, DB, TOOK);
        watched.failed(ObjectKind.SECRET, DB, FailureReason.UNAVAILABLE);

        assertThat(watched.isLost(ObjectKind.SECRET, DB)).isTrue();
        assertThat(watched.isKnown(ObjectKind.SECRET, DB)).isTrue();
        assertThat(watched.isLost(ObjectKind.CONFIG_MAP, DB)).isFalse();
    }

    @Test
    void retain_objectsOfOneKind_forgetsTheOthersOfIt() {
        watched.synced(ObjectKind.SECRET, DB, TOOK);
        watched.synced(ObjectKind.SECRET, WEB, TOOK);
        watched.synced(ObjectKind.CONFIG_MAP, DB, TOOK);

        watched.retain(ObjectKind.SECRET, Set.of(WEB));

        assertThat(watched.isKnown(ObjectKind.SECRET, DB)).isFalse();
        assertThat(watched.isKnown(ObjectKind.SECRET, WEB)).isTrue();
        assertThat(watched.isKnown(ObjectKind.CONFIG_MAP, DB)).isTrue();
    }
}
