// The tests use node's own runner and assertions. Their types would bring node's globals into the pages' modules, where
// they are not; so they are left open here.
declare module "node:*";
