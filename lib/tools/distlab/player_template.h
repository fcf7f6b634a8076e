// The page that plays traces, with "@DISTLAB_TRACE@" where the player JSON belongs: player.html, built from
// slides/player by `npm run player` and kept beside this file, so that nobody needs node to see an animation.
#pragma once

#include <string_view>

namespace distlab {

std::string_view player_template();

}  // namespace distlab
