import SwaggerParser from "@apidevtools/swagger-parser";
const api = await SwaggerParser.validate(process.argv[2]);
console.log(`valid: ${Object.keys(api.paths).length} paths`);
