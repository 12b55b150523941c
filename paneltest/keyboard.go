package paneltest

// MenuShowsThePage tells whether the entry of the present page is within what is seen of
// the menu.
const MenuShowsThePage = `[...document.querySelectorAll(".menu [aria-current]")].every((a) => {
	const box = a.getBoundingClientRect(), menu = a.closest(".menu").getBoundingClientRect();
	return box.left >= menu.left && box.right <= menu.right;
})`
