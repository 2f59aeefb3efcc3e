package dev.podcache.chaos;

import dev.podcache.testing.Stalls;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What the actors of a run share. Thread-safe. */
final class World {

    private static final int OF_EACH_KIND = 14;
    private static final long POPULAR_FOR = Duration.ofMillis(100).toNanos();

    final RunTime time = new RunTime();
    final Journal journal = new Journal(time);
    final Violations violations = new Violations(journal);
    final RunFigures figures = new RunFigures();
    final Calm calm = new Calm();
    final Stalls stalls = new Stalls(time::now);
    final WatchLog watches = new WatchLog(this);
    final String namespace;

    /** All objects that ever are. */
    final List<CachedObject> subjects = Stream.of(CachedObject.CachedKind.values())
            .flatMap(kind -> IntStream.range(0, OF_EACH_KIND).mapToObj(i -> new CachedObject(kind, "object-" + i)))
            .toList();

    private final Map<CachedObject, History> histories =
            subjects.stream().collect(Collectors.toMap(Function.identity(), subject -> new History()));

    /** How far the clocks of this process are ahead. */
    final AtomicReference<Duration> clock = new AtomicReference<>(Duration.ZERO);

    private volatile Set<CachedObject> frozen = Set.of();

    World(String namespace) {
        this.namespace = namespace;
    }

    /** Has these, and no others, not be written. */
    void freeze(Set<CachedObject> chosen) {
        frozen = Set.copyOf(chosen);
    }

    /** Whether it is not written for now. */
    boolean isFrozen(CachedObject subject) {
        return frozen.contains(subject);
    }

    /** The object of that kind and name; null if it is none of the run's. */
    @Nullable
    CachedObject subject(String plural, String name) {
        return subjects.stream()
                .filter(subject ->
                        subject.kind().plural.equals(plural) && subject.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /** The object that all want to read just now. */
    CachedObject popular() {
        long turn = time.now() / POPULAR_FOR;
        return subjects.get((int) (turn * 7 % subjects.size()));
    }

    /** Whether it is read so seldom that its watch is closed in between. */
    boolean isQuiet(CachedObject subject) {
        return subject.name().endsWith("9");
    }

    /** Whether one pod refers to it as long as there are pods, and no other does: it has one epoch, and a long one. */
    boolean isSteady(CachedObject subject) {
        return subject.name().endsWith("7") || subject.name().endsWith("8");
    }

    /** Where the object is at the server. */
    String path(CachedObject subject) {
        return collectionPath(subject.kind()) + "/" + subject.name();
    }

    /** Where all objects of a kind are. */
    String collectionPath(CachedObject.CachedKind kind) {
        return "/api/v1/namespaces/" + namespace + "/" + kind.plural;
    }

    /** What the writer knows of the object. */
    History history(CachedObject subject) {
        History history = histories.get(subject);
        if (history == null) {
            throw new IllegalArgumentException("no object of this run: " + subject);
        }
        return history;
    }
}
