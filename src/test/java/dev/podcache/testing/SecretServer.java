package dev.podcache.testing;

import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Secret;

/** An API server with Secrets in it, whatever it is and however it is reached: what a contract of stores needs of one. */
public interface SecretServer extends AutoCloseable {

    /** Makes a namespace that nobody else uses. */
    String newNamespace();

    /** Creates the Secret, or replaces it, and returns it as stored. */
    Secret put(Secret secret);

    /** Deletes the Secret of that name. */
    void delete(ObjectKey key);

    /** The port that a store reads through. */
    ObjectGetter<Secret> getter();

    /** The time of everything here. */
    Timekeeper timekeeper();

    /** Ends what was made for this test. */
    @Override
    void close();
}
