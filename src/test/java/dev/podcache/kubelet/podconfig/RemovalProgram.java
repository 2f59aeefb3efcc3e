package dev.podcache.kubelet.podconfig;

import java.io.IOException;
import java.nio.file.Path;

/** Deletes a directory as the user that runs it. Uses nothing but the JDK and {@link Removal}. */
final class RemovalProgram {

    private RemovalProgram() {}

    public static void main(String[] directory) throws IOException {
        Removal.of(Path.of(directory[0]));
    }
}
