package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What all entries have in common, by an entry that knows nothing else. */
class EntryTest {

    private final List<String> calls = new ArrayList<>();
    private final Transitions<String> transitions = new Transitions<>(StoreOptions.defaults(new ManualTimekeeper()));
    private final Plain entry = new Plain();
    private boolean epochBegins;

    private final class Plain extends Entry<String> {

        Plain() {
            super(DB, transitions);
            transitions.observe(
                    new AnswerLog<>(this, change -> calls.add(change + (Thread.holdsLock(this) ? ", locked" : ""))));
        }

        void know(Answer<String> answer) {
            setAnswerLocked(answer);
            changed();
            calls.clear();
        }

        @Override
        boolean beginsEpochLocked() {
            calls.add("begins an epoch" + lock());
            return epochBegins;
        }

        @Override
        @Nullable
        Answer<String> latestLocked() {
            return answer();
        }

        @Override
        boolean isStaleLocked() {
            return false;
        }

        @Override
        void onDropLocked() {
            calls.add("dropped" + lock());
        }

        @Override
        void onEvictLocked() {
            calls.add("evicted" + lock());
        }

        @Override
        void afterChangeLocked() {
            deferLocked(() -> calls.add("unlocked" + lock()));
        }

        private String lock() {
            return Thread.holdsLock(this) ? ", locked" : "";
        }
    }

    @Test
    void addReference_asksUnderTheLockWhetherAnEpochBegins() {
        assertThat(entry.addReference(POD)).isTrue();

        assertThat(calls).containsExactly("begins an epoch, locked", "unlocked");
        assertThat(entry.referencesLocked()).isEqualTo(1);
    }

    @Test
    void addReference_epochBegins_forgetsTheAnswerAndTells() {
        entry.know(present(0));
        epochBegins = true;
        entry.addReference(POD);

        assertThat(entry.answer()).isNull();
        assertThat(calls).containsExactly("begins an epoch, locked", "FRESH to UNREAD", "unlocked");
    }

    @Test
    void addReference_epochGoesOn_keepsTheAnswer() {
        Answer<String> known = present(0);
        entry.know(known);
        entry.addReference(POD);

        assertThat(entry.answer()).isSameAs(known);
    }

    @Test
    void addReference_dropped_isRefused() {
        entry.drop();
        calls.clear();

        assertThat(entry.addReference(POD)).isFalse();
        assertThat(entry.referencesLocked()).isZero();
        assertThat(calls).isEmpty();
    }

    @Test
    void deleteReference_last_drops() {
        entry.addReference(POD);
        entry.know(present(0));
        calls.clear();

        assertThat(entry.deleteReference(POD)).isTrue();
        assertThat(entry.isDroppedLocked()).isTrue();
        assertThat(entry.answer()).isNull();
        assertThat(calls).containsExactly("dropped, locked", "FRESH to UNREAD", "unlocked");
    }

    @Test
    void deleteReference_oneOfTwo_dropsNothing() {
        entry.addReference(POD);
        entry.addReference(OTHER_POD);
        calls.clear();

        assertThat(entry.deleteReference(POD)).isFalse();
        assertThat(entry.isDroppedLocked()).isFalse();
        assertThat(calls).isEmpty();
    }

    @Test
    void deleteReference_ofAStranger_dropsNothing() {
        assertThat(entry.deleteReference(POD)).isFalse();
        assertThat(entry.isDroppedLocked()).isFalse();
    }

    @Test
    void deleteReference_dropped_isNotTheLastOnceMore() {
        entry.addReference(POD);
        entry.drop();
        calls.clear();

        assertThat(entry.deleteReference(POD)).isFalse();
        assertThat(calls).isEmpty();
    }

    @Test
    void drop_dropsWhoeverRefersToIt_once() {
        entry.addReference(POD);
        entry.know(present(0));
        calls.clear();
        entry.drop();
        entry.drop();

        assertThat(entry.isDroppedLocked()).isTrue();
        assertThat(entry.answer()).isNull();
        assertThat(calls).containsExactly("dropped, locked", "FRESH to UNREAD", "unlocked");
    }

    @Test
    void evict_present_forgetsTheAnswerOnly() {
        entry.addReference(POD);
        entry.know(present(0));
        calls.clear();
        entry.evict();

        assertThat(entry.answer()).isNull();
        assertThat(entry.referencesLocked()).isEqualTo(1);
        assertThat(calls).containsExactly("evicted, locked", "FRESH to UNREAD", "unlocked");
    }

    /** It has no payload to save, and it is an answer. */
    @Test
    void evict_absent_keepsTheAnswer() {
        Answer<String> absent = new Answer.Absent<>(0);
        entry.know(absent);
        entry.evict();

        assertThat(entry.answer()).isSameAs(absent);
        assertThat(calls).isEmpty();
    }

    @Test
    void evict_nothingKnown_tellsNothing() {
        entry.evict();

        assertThat(calls).isEmpty();
    }

    @Test
    void ifKnown_whateverItsAge() {
        entry.know(present(5));

        assertThat(entry.ifKnown()).isEqualTo("v1");
    }

    @Test
    void ifKnown_absent_isNoObject() {
        entry.know(present(0));
        entry.know(new Answer.Absent<>(0));

        assertThat(entry.ifKnown()).isNull();
    }

    @Test
    void ifKnown_leavesATrace() {
        assertThat(entry.touched).isFalse();
        entry.ifKnown();

        assertThat(entry.touched).isTrue();
    }

    private static Answer<String> present(long receivedAt) {
        return new Answer.Present<>(receivedAt, "v1", "1", 2, false);
    }
}
