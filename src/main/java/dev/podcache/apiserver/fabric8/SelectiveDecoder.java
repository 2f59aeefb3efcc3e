package dev.podcache.apiserver.fabric8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectDecoder;
import java.io.IOException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Decodes only the objects whose names a predicate accepts. Of the others it reads the JSON up to the end of their
 * metadata, for the name and the version, and builds no object.
 */
final class SelectiveDecoder<T> implements ObjectDecoder<T> {

    private static final JsonFactory JSON = new JsonFactory();

    private final ObjectDecoder<T> decoder;
    private final Predicate<String> names;

    /**
     * Makes a decoder.
     *
     * @param decoder decodes the accepted objects
     * @param names called on any thread; must be brief
     */
    SelectiveDecoder(ObjectDecoder<T> decoder, Predicate<String> names) {
        this.decoder = decoder;
        this.names = names;
    }

    @Override
    public Fetched<T> decode(byte[] json, int offset, int length) {
        return decoder.decode(json, offset, length);
    }

    @Override
    public @Nullable String skippedVersion(byte[] json, int offset, int length) {
        try (JsonParser parser = JSON.createParser(json, offset, length)) {
            return parser.nextToken() == JsonToken.START_OBJECT ? versionUnlessAccepted(parser) : null;
        } catch (IOException notJson) {
            // the decoder reports what is wrong
            return null;
        }
    }

    private @Nullable String versionUnlessAccepted(JsonParser parser) throws IOException {
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            boolean isMetadata = parser.currentName().equals("metadata");
            JsonToken value = parser.nextToken();
            if (isMetadata && value == JsonToken.START_OBJECT) {
                return versionInMetadata(parser);
            }
            parser.skipChildren();
        }
        return null;
    }

    private @Nullable String versionInMetadata(JsonParser parser) throws IOException {
        String name = null;
        String version = "";
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String field = parser.currentName();
            JsonToken value = parser.nextToken();
            if (value == JsonToken.VALUE_STRING && field.equals("name")) {
                name = parser.getText();
                if (names.test(name)) {
                    return null;
                }
            } else if (value == JsonToken.VALUE_STRING && field.equals("resourceVersion")) {
                version = parser.getText();
            }
            parser.skipChildren();
        }
        return name == null ? null : version;
    }
}
