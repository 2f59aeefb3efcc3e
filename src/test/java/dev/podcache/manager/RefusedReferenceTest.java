package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Multiset;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A store that refuses a reference leaves the registration as it was. */
class RefusedReferenceTest {

    private static final Referrer OWNER = PodKey.of("shop", "web", "uid-1");
    private static final ObjectKey OLD = ObjectKey.of("shop", "old");
    private static final ObjectKey KEPT = ObjectKey.of("shop", "kept");
    private static final ObjectKey FIRST = ObjectKey.of("shop", "first");
    private static final ObjectKey REFUSED = ObjectKey.of("shop", "refused");

    private final Counting store = new Counting();
    private final Manager<Secret> manager = Manager.caching(store, pod -> Set.of());

    /** Counts references, and adds none to {@link #REFUSED} while it refuses. */
    private static final class Counting extends ReferencesOnly {

        private final Multiset<ObjectKey> references = HashMultiset.create();
        private boolean refuses = true;

        @Override
        public void addReference(ObjectKey key, Referrer referrer) {
            if (refuses && key.equals(REFUSED)) {
                throw new IllegalStateException("refused");
            }
            references.add(key);
        }

        @Override
        public void deleteReference(ObjectKey key, Referrer referrer) {
            assertThat(references.remove(key)).as("a reference to %s", key).isTrue();
        }
    }

    @Test
    void register_storeRefusesOne_holdsWhatItHeldBefore() {
        manager.register(OWNER, ImmutableSet.of(OLD, KEPT));
        refuse();

        assertThat(store.references).containsExactlyInAnyOrder(OLD, KEPT);
    }

    @Test
    void register_againAfterARefusal_countsEachOnce() {
        manager.register(OWNER, ImmutableSet.of(OLD, KEPT));
        refuse();
        store.refuses = false;
        manager.register(OWNER, ImmutableSet.of(KEPT, FIRST, REFUSED));

        assertThat(store.references).containsExactlyInAnyOrder(KEPT, FIRST, REFUSED);
    }

    @Test
    void unregister_afterARefusal_leavesNothing() {
        refuse();
        manager.unregister(OWNER);

        assertThat(store.references).isEmpty();
    }

    private void refuse() {
        assertThatThrownBy(() -> manager.register(OWNER, ImmutableSet.of(KEPT, FIRST, REFUSED)))
                .hasMessage("refused");
    }
}
