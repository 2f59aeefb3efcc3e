package dev.podcache.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import org.junit.jupiter.api.Test;

class ChangesTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");
    private static final Sighting SIGHTING =
            new Sighting(ObjectKind.SECRET, DB, new Outcome.Present("4"), new Outcome.Present("7"));

    private final RecordedAccount recorded = RecordedAccount.ofText();
    private final Changes changes = new Changes(recorded.account(), recorded.account()::seconds);

    @Test
    void accept_changeOfTheDemo_isToldWithItsDelay() {
        recorded.advance(10);
        changes.make(ObjectKind.SECRET, DB, "rotation");
        recorded.advance(1.25);

        changes.accept(SIGHTING);

        assertThat(recorded.lines())
                .containsExactly("  11.3s  changed      Secret shop/db: resourceVersion 4 -> 7, seen 1.25 s later");
        assertThat(changes.seenAfter()).containsOnlyKeys("rotation").containsEntry("rotation", 1.25);
    }

    @Test
    void accept_changeOfSomebodyElse_isToldWithoutADelay() {
        changes.accept(SIGHTING);

        assertThat(recorded.lines()).containsExactly("   0.0s  changed      Secret shop/db: resourceVersion 4 -> 7");
        assertThat(changes.seenAfter()).isEmpty();
    }

    @Test
    void accept_secondSightingOfOneChange_isSomebodyElses() {
        changes.make(ObjectKind.SECRET, DB, "rotation");

        changes.accept(SIGHTING);
        changes.accept(SIGHTING);

        assertThat(recorded.lines()).hasSize(2).last().asString().doesNotContain("later");
    }
}
