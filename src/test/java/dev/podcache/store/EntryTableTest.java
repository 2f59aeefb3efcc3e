package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.PodKey;
import dev.podcache.object.Reference;
import dev.podcache.object.Referrer;
import dev.podcache.object.Usage;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class EntryTableTest {

    private final Transitions<String> transitions = new Transitions<>(StoreOptions.defaults(new ManualTimekeeper()));
    private final EntryTable<String, TtlEntry<String>> table =
            new EntryTable<>(ObjectKind.SECRET, this::entry, () -> {}, () -> {});

    @Test
    void find_equalNames_findsThatEntry() {
        TtlEntry<String> db = put("shop", "db");
        put("shop", "tls");
        put("db", "shop");

        assertThat(table.find(new String("shop"), new String("db"))).isSameAs(db);
    }

    @Test
    void find_sameNameInOtherNamespaces_isAnotherEntry() {
        List<TtlEntry<String>> entries = IntStream.range(0, 200)
                .mapToObj(i -> put("team-" + i, "root-ca"))
                .toList();

        assertThat(entries).allSatisfy(entry -> assertThat(find(entry)).isSameAs(entry));
    }

    @Test
    void find_nameThatIsNotIn_findsNothing() {
        put("shop", "db");

        assertThat(table.find("shop", "d")).isNull();
        assertThat(table.find("shopd", "b")).isNull();
        assertThat(table.find("", "")).isNull();
    }

    @Test
    void putIfAbsent_secondOfTheSameNames_isNotPutIn() {
        TtlEntry<String> first = put("shop", "db");

        assertThat(table.putIfAbsent(entry(ObjectKey.of("shop", "db")))).isFalse();
        assertThat(find(first)).isSameAs(first);
        assertThat(table.size()).isEqualTo(1);
    }

    @Test
    void remove_successorOfTheSameNames_stays() {
        TtlEntry<String> gone = put("shop", "db");
        assertThat(table.remove(gone)).isTrue();
        TtlEntry<String> successor = put("shop", "db");

        assertThat(table.remove(gone)).isFalse();
        assertThat(find(successor)).isSameAs(successor);
    }

    @Test
    void remove_oneOfCollidingNames_leavesTheOthersFindable() {
        // "Aa" and "BB" have the same hash code, and so have all words made of them
        List<TtlEntry<String>> colliding = new ArrayList<>(IntStream.range(0, 32)
                .mapToObj(word -> put("shop", collidingWord(word)))
                .toList());

        while (!colliding.isEmpty()) {
            assertThat(table.remove(colliding.remove(colliding.size() / 2))).isTrue();
            assertThat(colliding).allSatisfy(entry -> assertThat(find(entry)).isSameAs(entry));
        }
        assertThat(table.size()).isZero();
    }

    @Test
    void emptyNames_whereOthersWereRemoved_areNotMistakenForThem() {
        // the empty names have the hash 0 and collide with whatever else begins its search in the first slot
        List<TtlEntry<String>> passers =
                IntStream.range(0, 64).mapToObj(i -> put("shop", "n" + i)).toList();
        passers.forEach(table::remove);

        assertThat(table.find("", "")).isNull();
    }

    @Test
    void forEach_visitsWhatIsIn() {
        TtlEntry<String> db = put("shop", "db");
        TtlEntry<String> gone = put("shop", "gone");
        TtlEntry<String> tls = put("shop", "tls");
        table.remove(gone);
        List<TtlEntry<String>> visited = new ArrayList<>();

        table.forEach(visited::add);

        assertThat(visited).containsExactlyInAnyOrder(db, tls);
    }

    @Test
    void find_whileOthersComeAndGo_neverMissesAnEntryThatStays() {
        List<TtlEntry<String>> staying = IntStream.range(0, 120)
                .filter(i -> i % 6 == 0)
                .mapToObj(i -> put("shop", partlyCollidingName(i)))
                .toList();
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger looks = new AtomicInteger();
        CompletableFuture<Long> missed = CompletableFuture.supplyAsync(
                () -> {
                    long misses = 0;
                    while (!done.get()) {
                        misses += staying.stream()
                                .filter(entry -> find(entry) != entry)
                                .count();
                        looks.incrementAndGet();
                    }
                    return misses;
                },
                NewThread.EACH);

        // grows, is rebuilt, and shrinks, over and over
        for (int round = 0; round < 4_000 || looks.get() < 4_000; round++) {
            List<TtlEntry<String>> coming = IntStream.range(0, round % 120)
                    .filter(i -> i % 6 != 0)
                    .mapToObj(i -> put("shop", partlyCollidingName(i)))
                    .toList();
            coming.forEach(table::remove);
        }
        done.set(true);

        assertThat(missed.join()).isZero();
    }

    @Test
    void addReference_whereWhatFollowsThrows_insertsNothing() {
        AtomicInteger users = new AtomicInteger();
        AtomicBoolean failing = new AtomicBoolean(true);
        EntryTable<String, TtlEntry<String>> watched = new EntryTable<>(
                ObjectKind.SECRET,
                this::entry,
                () -> {
                    if (failing.get()) {
                        throw new InternalError("no timer");
                    }
                    users.incrementAndGet();
                },
                users::decrementAndGet);
        ObjectKey db = ObjectKey.of("shop", "db");
        Referrer owner = PodKey.of("shop", "web", "uid-web");
        assertThatThrownBy(() -> watched.addReference(db, owner, Runnable::run)).hasMessage("no timer");
        assertThat(watched.find("shop", "db")).isNull();

        failing.set(false);
        watched.addReference(db, owner, Runnable::run);
        assertThat(users).hasValue(1);
        watched.deleteReference(db, owner, Runnable::run);
        assertThat(users).hasValue(0);
        assertThat(watched.size()).isZero();
    }

    /** Whoever may create pods chooses names. A search among them all would take minutes here. */
    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void names_ofOneHashCode_areFoundAndRemoved() {
        List<TtlEntry<String>> entries = IntStream.range(0, 1 << 16)
                .mapToObj(bits -> put("shop", hostileName(bits)))
                .toList();
        assertThat(entries).extracting(entry -> entry.hash).containsOnly(entries.get(0).hash);
        TtlEntry<String> harmless = put("shop", "db");

        for (TtlEntry<String> entry : entries) {
            assertThat(find(entry) == entry).isTrue();
        }
        assertThat(table.find("shop", hostileName(0) + "x")).isNull();
        assertThat(table.putIfAbsent(entry(entries.get(9).key))).isFalse();
        entries.forEach(table::remove);
        assertThat(table.size()).isEqualTo(1);
        assertThat(find(harmless)).isSameAs(harmless);
        assertThat(find(entries.get(9))).isNull();
    }

    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void keys_ofOneHashCode_areFastInMapsOfTheJdk() {
        Map<Object, Integer> map = new ConcurrentHashMap<>();
        for (int i = 0; i < 1 << 16; i++) {
            ObjectKey key = ObjectKey.of("shop", hostileName(i));
            map.put(key, i);
            map.put(ObjectRef.of(ObjectKind.SECRET, key), i);
            map.put(new Reference(key, Usage.ENV), i);
        }
        assertThat(map).hasSize(3 << 16);
        assertThat(map.get(ObjectKey.of("shop", hostileName(77)))).isEqualTo(77);
    }

    /** A lookup beside the change to another hash finds what is there throughout. */
    @Test
    void find_whileNamesOfOneHashCodeCome_missesNothing() {
        TtlEntry<String> stays = put("shop", hostileName(0));
        AtomicBoolean done = new AtomicBoolean();
        CompletableFuture<Integer> missed = CompletableFuture.supplyAsync(
                () -> {
                    int count = 0;
                    while (!done.get()) {
                        count += find(stays) == stays ? 0 : 1;
                    }
                    return count;
                },
                NewThread.EACH);
        for (int i = 1; i < 5_000; i++) {
            put("shop", hostileName(i));
        }
        done.set(true);

        assertThat(missed.join()).isZero();
    }

    /** "ap" and "c2" have one hash code, and a name of an object may have both. */
    private static String hostileName(int bits) {
        StringBuilder name = new StringBuilder();
        for (int bit = 0; bit < 16; bit++) {
            name.append((bits >> bit & 1) == 0 ? "ap" : "c2");
        }
        return name.toString();
    }

    private TtlEntry<String> entry(ObjectKey key) {
        return new TtlEntry<>(key, transitions, 0, EarlyRefusals.NODE);
    }

    private TtlEntry<String> put(String namespace, String name) {
        TtlEntry<String> entry = entry(ObjectKey.of(namespace, name));
        assertThat(table.putIfAbsent(entry)).isTrue();
        return entry;
    }

    private @Nullable TtlEntry<String> find(TtlEntry<String> entry) {
        return table.find(entry.key.namespace(), entry.key.name());
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
