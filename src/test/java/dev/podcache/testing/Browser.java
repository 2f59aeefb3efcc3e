package dev.podcache.testing;

import com.google.common.base.Splitter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Chromium without windows, with a profile of its own. Its tabs are driven by the Chrome DevTools Protocol. */
public final class Browser implements AutoCloseable {

    private static final List<String> NAMES = List.of("chromium", "chromium-browser", "google-chrome");

    private final ServerProcess process;
    private final Path address;

    private Browser(ServerProcess process, Path address) {
        this.process = process;
        this.address = address;
    }

    /** Returns the program, if this machine has it. */
    public static Optional<Path> program() {
        return Splitter.on(':')
                .splitToStream(Optional.ofNullable(System.getenv("PATH")).orElse(""))
                .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Starts the browser and waits until it can be driven. */
    public static Browser start() {
        try {
            Path folder = Files.createTempDirectory("podcache-browser");
            Path profile = folder.resolve("profile");
            // the browser writes the port and path of its DevTools there
            Path address = profile.resolve("DevToolsActivePort");
            ServerProcess process = new ServerProcess("chromium", command(profile), folder, () -> isWritten(address));
            process.start();
            return new Browser(process, address);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> command(Path profile) {
        Path program = program().orElseThrow(() -> new IllegalStateException("there is no Chromium"));
        return Stream.concat(
                        Stream.of(program.toString(), "--user-data-dir=" + profile),
                        Stream.of(
                                "--headless",
                                "--remote-debugging-port=0",
                                "--no-sandbox",
                                "--no-first-run",
                                "--disable-gpu",
                                "--disable-quic",
                                "--disable-dev-shm-usage",
                                "--disable-background-networking",
                                "--disable-component-update",
                                "--disable-sync",
                                "--disable-background-timer-throttling",
                                "--disable-renderer-backgrounding",
                                "--hide-scrollbars",
                                "--force-color-profile=srgb",
                                "--lang=en"))
                .toList();
    }

    private static boolean isWritten(Path address) {
        try {
            return Files.exists(address) && Files.readAllLines(address).size() == 2;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Opens an empty tab, which must be closed. */
    public BrowserTab tab() {
        try {
            return BrowserTab.open(Integer.parseInt(Files.readAllLines(address).get(0)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ends the browser and deletes its profile. */
    @Override
    public void close() {
        process.stop();
    }
}
