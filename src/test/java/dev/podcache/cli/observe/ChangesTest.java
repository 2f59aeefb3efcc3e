package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.cli.output.RecordedAccount;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    @ParameterizedTest
    @CsvSource({"0, under 1 ms", "0.0034, 3 ms", "0.9994, 999 ms", "0.9996, 1.00 s", "12.345, 12.35 s"})
    void text_anyTime_isInItsUnit(double seconds, String text) {
        assertThat(Changes.text(seconds)).isEqualTo(text);
    }

    @Test
    void isAwaited_changeThatNobodySawYet_is() {
        assertThat(changes.isAwaited(ObjectKind.SECRET, DB)).isFalse();
        changes.make(ObjectKind.SECRET, DB, "rotation");
        assertThat(changes.isAwaited(ObjectKind.SECRET, DB)).isTrue();
        changes.accept(SIGHTING);
        assertThat(changes.isAwaited(ObjectKind.SECRET, DB)).isFalse();
    }

    @Test
    void accept_secondSightingOfOneChange_isSomebodyElses() {
        changes.make(ObjectKind.SECRET, DB, "rotation");

        changes.accept(SIGHTING);
        changes.accept(SIGHTING);

        assertThat(recorded.lines()).hasSize(2).last().asString().doesNotContain("later");
    }
}
