package dev.podcache.kubelet.process;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads and writes records as JSON. A reader sees either no file or a complete one, except after a loss of power. */
final class JsonFile {

    private static final Logger log = LoggerFactory.getLogger(JsonFile.class);
    private static final JsonMapper JSON = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private JsonFile() {}

    /**
     * Returns the content of a file; empty if there is no such file or it is damaged.
     *
     * @param consequence what happens next if it is damaged, for the log
     */
    static <T> Optional<T> read(Path file, Class<T> type, String consequence) throws IOException {
        try {
            return Optional.of(JSON.readValue(Files.readAllBytes(file), type));
        } catch (NoSuchFileException none) {
            return Optional.empty();
        } catch (JsonProcessingException e) {
            log.warn("{} is damaged ({}); {}", file, e.getOriginalMessage(), consequence);
            return Optional.empty();
        }
    }

    static void write(Path file, Object content) throws IOException {
        Path unfinished = file.resolveSibling(file.getFileName() + ".new");
        Files.write(unfinished, JSON.writeValueAsBytes(content));
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
    }
}
