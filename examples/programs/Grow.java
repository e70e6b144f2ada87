// SPDX-License-Identifier: GPL-2.0-or-later
// Memory outside of Java's heap, which is kept for ever.
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

public class Grow {
	static final List<ByteBuffer> kept = new ArrayList<>();

	static void fetchRows() {
		kept.add(ByteBuffer.allocateDirect(64 * 1024));
	}

	static void handleRequest() {
		fetchRows();
	}

	public static void main(String[] args) throws InterruptedException {
		for (int n = 0; n < (args.length > 0 ? Integer.parseInt(args[0]) : 100); n++) {
			handleRequest();
			Thread.sleep(50);
		}
	}
}
