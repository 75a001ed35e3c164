/** Plain requests, to look at the daemon without the package. */

import http from "node:http";
import { SOCKET } from "./common.mjs";

export function get(path) {
    return new Promise((resolve, reject) => {
        http.get({ socketPath: SOCKET, path }, async (answer) => {
            const parts = [];
            for await (const part of answer) {
                parts.push(part);
            }
            resolve(JSON.parse(Buffer.concat(parts).toString()));
        }).on("error", reject);
    });
}
