package dev.podcache.cli.config;

import java.nio.file.Path;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Parses the paths of flags. An empty one, as from a variable that is not set, would be the working directory: private keys
 * and Secrets would be written there.
 */
public final class GivenPath implements ITypeConverter<Path> {

    @Override
    public Path convert(String text) {
        if (text.isEmpty()) {
            throw new TypeConversionException("it is empty: give a path");
        }
        return Path.of(text);
    }
}
