package dev.podcache.controlplane.ttl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class TtlLadderProperties {

    private static TtlLadder withNodes(int nodes) {
        TtlLadder ladder = TtlLadder.EMPTY;
        for (int i = 0; i < nodes; i++) {
            ladder = ladder.nodeAdded();
        }
        return ladder;
    }

    @Property
    void moreNodes_neverHaveAShorterTtl(@ForAll @IntRange(max = 3_000) int a, @ForAll @IntRange(max = 3_000) int b) {
        assertThat(withNodes(Math.max(a, b)).seconds())
                .isGreaterThanOrEqualTo(withNodes(Math.min(a, b)).seconds());
    }

    /** A tenth of the limit is the least distance between two changes of the TTL. */
    @Property
    void clusterVariesByLessThanATenth_theTtlChangesAtMostOnce(
            @ForAll @IntRange(min = 20, max = 3_000) int nodes, @ForAll List<@IntRange(max = 100) Integer> percents) {
        int range = nodes / 11;
        TtlLadder ladder = withNodes(nodes);
        Set<Integer> seen = new HashSet<>(Set.of(ladder.seconds()));
        int changes = 0;
        for (int percent : percents) {
            int target = nodes + range * percent / 100;
            while (ladder.nodes() != target) {
                int before = ladder.seconds();
                ladder = ladder.nodes() < target ? ladder.nodeAdded() : ladder.nodeRemoved();
                changes += before == ladder.seconds() ? 0 : 1;
                seen.add(ladder.seconds());
            }
        }
        assertThat(changes).isLessThanOrEqualTo(1);
        assertThat(seen).hasSizeLessThanOrEqualTo(2);
    }

    @Property
    void manyNodesCome_andGo_theTtlIsZeroAgain(@ForAll @IntRange(max = 12_000) int nodes) {
        TtlLadder ladder = withNodes(nodes);
        while (ladder.nodes() > 0) {
            ladder = ladder.nodeRemoved();
        }
        assertThat(ladder.seconds()).isZero();
    }
}
