package dev.podcache.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.cli.output.Spread;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

class BarChartTest {

    @Test
    void svg_twoBars_areAsLongAsTheirMedians() throws Exception {
        Document svg = parsed(new BarChart("a < b & c", "", " ms")
                .group("")
                .ours("ours", new Spread(10, 20, 30))
                .other("other", new Spread(30, 40, 80)));

        assertThat(width(svg, 1)).isEqualTo(2 * width(svg, 0));
        assertThat(svg.getElementsByTagName("title").item(0).getTextContent()).isEqualTo("a < b & c");
        assertThat(svg.getDocumentElement().getTextContent()).contains("20 (10 to 30) ms", "40 (30 to 80) ms");
    }

    private static int width(Document svg, int bar) {
        return Integer.parseInt(bar(svg, bar).getAttribute("width"));
    }

    /** The rectangle before the bars is the background. */
    private static Element bar(Document svg, int bar) {
        return (Element) svg.getElementsByTagName("rect").item(bar + 1);
    }

    private static Document parsed(BarChart chart) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(chart.svg().getBytes(StandardCharsets.UTF_8)));
    }
}
