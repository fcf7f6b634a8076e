// The page that plays traces, with "@DISTLAB_TRACE@" where the player JSON goes. It is player.html, built
// from slides/player by `npm run player` and kept beside this file, so that you can see animations without
// node.
#pragma once

#include <string_view>

namespace distlab {

std::string_view player_template();

}  // namespace distlab
