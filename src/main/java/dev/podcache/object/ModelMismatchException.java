package dev.podcache.object;

/**
 * JSON that a class of fabric8's model cannot hold, because a value has the wrong type. Has no cause and quotes no value,
 * because values may be secret.
 *
 * @hidden
 */
@NotApi
public final class ModelMismatchException extends IllegalArgumentException {

    private static final long serialVersionUID = 1;

    private final String path;

    ModelMismatchException(String path) {
        super((path.isEmpty() ? "a value" : path) + " has the wrong type");
        this.path = path;
    }

    /** Returns the path to the value, such as {@code spec.containers[0].ports}; empty if it is not known. */
    public String path() {
        return path;
    }
}
