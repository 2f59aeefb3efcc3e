package dev.podcache.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ProgressTest {

    private final CapturedConsole console = new CapturedConsole(Path.of(""));
    private final AtomicLong nanos = new AtomicLong();

    @Test
    void show_afterTwoSecondsOnATerminal_isALineThatIsOverwritten() {
        Progress progress = new Progress(console.onATerminal().console(), nanos::get);

        progress.show("1 of 3");
        assertThat(console.err()).isEmpty();
        nanos.set(2_000_000_000);
        progress.show("2 of 3");
        progress.clear();
        progress.clear();

        assertThat(console.errText()).isEqualTo("2 of 3\r      \r");
    }

    @Test
    void show_elsewhere_isNothing() {
        Progress progress = new Progress(console.console(), nanos::get);
        nanos.set(5_000_000_000L);

        progress.show("2 of 3");
        progress.clear();

        assertThat(console.errText()).isEmpty();
    }
}
