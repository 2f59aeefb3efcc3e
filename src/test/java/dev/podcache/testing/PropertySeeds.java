package dev.podcache.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import net.jqwik.api.lifecycle.AroundPropertyHook;
import net.jqwik.api.lifecycle.PropagationMode;
import net.jqwik.api.lifecycle.PropertyExecutionResult;
import net.jqwik.api.lifecycle.PropertyExecutionResult.Status;
import net.jqwik.api.lifecycle.PropertyExecutor;
import net.jqwik.api.lifecycle.PropertyLifecycleContext;

/**
 * Starts each jqwik property with the seed of its last failure, or with a new seed. Replaces the database of jqwik,
 * which concurrent JVMs overwrite. Each property has its own file in the folder of the system property
 * {@code podcache.property.seeds}; if that is empty, no seed is stored.
 */
public class PropertySeeds implements AroundPropertyHook {

    private static final String FOLDER = System.getProperty("podcache.property.seeds", "target/property-seeds");

    private final Random random = new Random();
    private final String folder;

    /** Created by jqwik through {@code ServiceLoader}. */
    public PropertySeeds() {
        this(FOLDER);
    }

    PropertySeeds(String folder) {
        this.folder = folder;
    }

    @Override
    public PropertyExecutionResult aroundProperty(PropertyLifecycleContext context, PropertyExecutor property) {
        if (context.attributes().seed().isPresent()) {
            return property.execute();
        }
        Path file = Path.of(
                folder,
                context.containerClass().getName() + "."
                        + context.targetMethod().getName());
        String seed = folder.isEmpty() || !Files.exists(file) ? Long.toString(random.nextLong()) : read(file);
        context.attributes().setSeed(seed);
        PropertyExecutionResult result = property.execute();
        if (!folder.isEmpty()) {
            note(file, seed, result.status() == Status.FAILED);
        }
        return result;
    }

    @Override
    public PropagationMode propagateTo() {
        return PropagationMode.ALL_DESCENDANTS;
    }

    /** Runs before {@link PropertyTimeLimit}, which reports the seed. */
    @Override
    public int aroundPropertyProximity() {
        return -100;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void note(Path file, String seed, boolean failed) {
        try {
            if (failed) {
                Files.createDirectories(file.getParent());
                Files.writeString(file, seed + "\n");
            } else {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
