package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.NewThread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HeldBytesTest {

    private final HeldBytes bytes = new HeldBytes(100);
    private final List<String> gaveWay = new ArrayList<>();

    private HeldBytes.HeldShare holding(String name) {
        return bytes.holding(() -> gaveWay.add(name));
    }

    @Test
    void set_tooMuchInAll_theLargestGivesWay() {
        HeldBytes.HeldShare small = holding("small");
        HeldBytes.HeldShare large = holding("large");
        small.set(10);
        large.set(60);
        holding("next").set(50);

        assertThat(gaveWay).containsExactly("large");
        assertThat(bytes.total()).isEqualTo(60);
        small.set(0);
        large.set(0);
        assertThat(bytes.total()).isEqualTo(50);
    }

    @Test
    void set_tooMuchOfOne_isAllowedWhileItIsAlone() {
        HeldBytes.HeldShare huge = holding("huge");
        huge.set(1000);
        assertThat(gaveWay).isEmpty();

        holding("small").set(1);

        assertThat(gaveWay).containsExactly("huge");
        assertThat(bytes.total()).isEqualTo(1);
    }

    @Test
    void set_less_neverHasOneGiveWay() {
        HeldBytes.HeldShare huge = holding("huge");
        huge.set(1000);
        huge.set(900);
        huge.set(0);

        assertThat(gaveWay).isEmpty();
        assertThat(bytes.total()).isZero();
    }

    @Test
    void total_whileOthersHoldMore_isNeverBeyondTheLimit() {
        List<CompletableFuture<Void>> connections = IntStream.range(0, 2)
                .mapToObj(any -> CompletableFuture.runAsync(this::grow, NewThread.EACH))
                .toList();
        long most = 0;
        while (!connections.stream().allMatch(CompletableFuture::isDone)) {
            most = Math.max(most, bytes.total());
        }
        connections.forEach(CompletableFuture::join);

        assertThat(most).isPositive().isLessThanOrEqualTo(100);
    }

    private void grow() {
        for (int round = 0; round < 20_000; round++) {
            HeldBytes.HeldShare share = bytes.holding(() -> {});
            share.set(30);
            share.set(60);
        }
    }
}
