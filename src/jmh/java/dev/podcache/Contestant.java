package dev.podcache;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.List;

/** One way to keep the Secrets of a namespace that pods refer to in memory. For one thread. */
interface Contestant extends AutoCloseable {

    /**
     * Begins to follow what {@code pods} refer to, and returns when all of {@code names}, which is that, can be read.
     */
    void follow(List<Pod> pods, List<String> names);

    /** Begins to follow {@code name}, which is all that {@code pod} refers to, and reads it. */
    Secret firstGet(Pod pod, String name);

    /** What is held of an object that is followed. */
    Secret read(String name);

    /** Lets go of everything, the connections included. */
    @Override
    void close();
}
