package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EntryIndexTest {

    private final EntryIndex<Indexed> index = new EntryIndex<>();

    @Test
    void find_equalNames_findsThatEntry() {
        Indexed db = put("shop", "db");
        put("shop", "tls");
        put("db", "shop");

        assertThat(index.find(new String("shop"), new String("db"))).isSameAs(db);
    }

    @Test
    void find_sameNameInOtherNamespaces_isAnotherEntry() {
        List<Indexed> entries = IntStream.range(0, 200)
                .mapToObj(i -> put("team-" + i, "root-ca"))
                .toList();

        assertThat(entries).allSatisfy(entry -> assertThat(find(entry)).isSameAs(entry));
    }

    @Test
    void find_nameThatIsNotIn_findsNothing() {
        put("shop", "db");

        assertThat(index.find("shop", "d")).isNull();
        assertThat(index.find("shopd", "b")).isNull();
        assertThat(index.find("", "")).isNull();
    }

    @Test
    void putIfAbsent_secondOfTheSameNames_isNotPutIn() {
        Indexed first = put("shop", "db");

        assertThat(index.putIfAbsent(new Indexed(ObjectKey.of("shop", "db")))).isFalse();
        assertThat(find(first)).isSameAs(first);
        assertThat(index.size()).isEqualTo(1);
    }

    @Test
    void remove_successorOfTheSameNames_stays() {
        Indexed gone = put("shop", "db");
        assertThat(index.remove(gone)).isTrue();
        Indexed successor = put("shop", "db");

        assertThat(index.remove(gone)).isFalse();
        assertThat(find(successor)).isSameAs(successor);
    }

    @Test
    void remove_oneOfCollidingNames_leavesTheOthersFindable() {
        // "Aa" and "BB" have the same hash code, and so have all words made of them
        List<Indexed> colliding = new ArrayList<>(IntStream.range(0, 32)
                .mapToObj(word -> put("shop", collidingWord(word)))
                .toList());

        while (!colliding.isEmpty()) {
            assertThat(index.remove(colliding.remove(colliding.size() / 2))).isTrue();
            assertThat(colliding).allSatisfy(entry -> assertThat(find(entry)).isSameAs(entry));
        }
        assertThat(index.size()).isZero();
    }

    @Test
    void emptyNames_whereOthersWereRemoved_areNotMistakenForThem() {
        // the empty names have the hash 0 and collide with whatever else begins its search in the first slot
        List<Indexed> passers =
                IntStream.range(0, 64).mapToObj(i -> put("shop", "n" + i)).toList();
        passers.forEach(index::remove);

        assertThat(index.find("", "")).isNull();
    }

    @Test
    void forEach_visitsWhatIsIn() {
        Indexed db = put("shop", "db");
        Indexed gone = put("shop", "gone");
        Indexed tls = put("shop", "tls");
        index.remove(gone);
        List<Indexed> visited = new ArrayList<>();

        index.forEach(visited::add);

        assertThat(visited).containsExactlyInAnyOrder(db, tls);
    }

    @Test
    void find_whileOthersComeAndGo_neverMissesAnEntryThatStays() {
        List<Indexed> staying = IntStream.range(0, 120)
                .filter(i -> i % 6 == 0)
                .mapToObj(i -> put("shop", partlyCollidingName(i)))
                .toList();
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger looks = new AtomicInteger();
        CompletableFuture<Long> missed = CompletableFuture.supplyAsync(() -> {
            long misses = 0;
            while (!done.get()) {
                misses += staying.stream().filter(entry -> find(entry) != entry).count();
                looks.incrementAndGet();
            }
            return misses;
        });

        // grows, is rebuilt, and shrinks, over and over
        for (int round = 0; round < 4_000 || looks.get() < 4_000; round++) {
            List<Indexed> coming = IntStream.range(0, round % 120)
                    .filter(i -> i % 6 != 0)
                    .mapToObj(i -> put("shop", partlyCollidingName(i)))
                    .toList();
            coming.forEach(index::remove);
        }
        done.set(true);

        assertThat(missed.join()).isZero();
    }

    private Indexed put(String namespace, String name) {
        Indexed entry = new Indexed(ObjectKey.of(namespace, name));
        assertThat(index.putIfAbsent(entry)).isTrue();
        return entry;
    }

    private @Nullable Indexed find(Indexed entry) {
        return index.find(entry.key.namespace(), entry.key.name());
    }

    /** 32 in a row have one hash code. */
    private static String partlyCollidingName(int number) {
        return collidingWord(number % 32) + "-" + number / 32;
    }

    private static String collidingWord(int bits) {
        StringBuilder word = new StringBuilder();
        for (int bit = 0; bit < 5; bit++) {
            word.append((bits >> bit & 1) == 0 ? "Aa" : "BB");
        }
        return word.toString();
    }
}
