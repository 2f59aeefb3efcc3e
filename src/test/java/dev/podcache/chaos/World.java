package dev.podcache.chaos;

import dev.podcache.testing.Stalls;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** What the actors of a run share. Thread-safe. */
final class World {

    private static final int OF_EACH_KIND = 14;

    final RunTime time = new RunTime();
    final Journal journal = new Journal(time);
    final Violations violations = new Violations(journal);
    final Figures figures = new Figures();
    final Calm calm = new Calm();
    final Stalls stalls = new Stalls(time::now);
    final String namespace;

    /** All objects that ever are. */
    final List<Subject> subjects = Stream.of(Subject.Kind.values())
            .flatMap(kind -> IntStream.range(0, OF_EACH_KIND).mapToObj(i -> new Subject(kind, "object-" + i)))
            .toList();

    private final Map<Subject, History> histories =
            subjects.stream().collect(Collectors.toMap(Function.identity(), subject -> new History()));

    World(String namespace) {
        this.namespace = namespace;
    }

    /** Whether it is read so seldom that its watch is closed in between. */
    boolean isQuiet(Subject subject) {
        return subject.name().endsWith("9");
    }

    /** Whether one pod refers to it as long as there are pods, and no other does: it has one epoch, and a long one. */
    boolean isSteady(Subject subject) {
        return subject.name().endsWith("7") || subject.name().endsWith("8");
    }

    /** Where the object is at the server. */
    String path(Subject subject) {
        return collectionPath(subject.kind()) + "/" + subject.name();
    }

    /** Where all objects of a kind are. */
    String collectionPath(Subject.Kind kind) {
        return "/api/v1/namespaces/" + namespace + "/" + kind.plural;
    }

    /** What the writer knows of the object. */
    History history(Subject subject) {
        History history = histories.get(subject);
        if (history == null) {
            throw new IllegalArgumentException("no object of this run: " + subject);
        }
        return history;
    }
}
