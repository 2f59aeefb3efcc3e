package dev.podcache.cli;

import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.kubelet.runtime.HollowRuntime;
import java.nio.file.Path;
import picocli.CommandLine.ParameterException;

/** Parses arguments of the program without running it. */
public final class Arguments {

    private Arguments() {}

    /**
     * Requires that the program accepts the arguments.
     *
     * @throws ParameterException if it does not
     */
    public static void requireAccepted(String... args) {
        Main.commandLine(new CapturedConsole(Path.of("")).console(), HollowRuntime::new)
                .parseArgs(args);
    }
}
