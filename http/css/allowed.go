package css

import "strings"

// What a customer's style sheet may say. Whatever stands in none of these
// tables is refused.

// ownPrefix is how custom properties of customers begin; the panel's own do not.
const ownPrefix = "--wl-"

// properties change looks and places, nothing else. Those that fetch something
// (list-style-image, mask), run something (behavior), or are new enough to be
// unknown to this table are not among them.
var properties = strings.Fields(`
	color opacity accent-color caret-color color-scheme
	background background-attachment background-blend-mode background-clip background-color background-image background-origin
	background-position background-position-x background-position-y background-repeat background-size

	border border-color border-style border-width border-radius border-collapse border-spacing
	border-top border-top-color border-top-style border-top-width border-top-left-radius border-top-right-radius
	border-right border-right-color border-right-style border-right-width
	border-bottom border-bottom-color border-bottom-style border-bottom-width border-bottom-left-radius border-bottom-right-radius
	border-left border-left-color border-left-style border-left-width
	outline outline-color outline-offset outline-style outline-width
	box-shadow text-shadow

	font font-family font-feature-settings font-kerning font-size font-size-adjust font-stretch font-style font-variant
	font-variant-caps font-variant-ligatures font-variant-numeric font-weight
	line-height letter-spacing word-spacing text-align text-align-last text-decoration text-decoration-color text-decoration-line
	text-decoration-style text-decoration-thickness text-indent text-overflow text-rendering text-transform text-underline-offset
	white-space word-break overflow-wrap word-wrap hyphens tab-size vertical-align direction writing-mode quotes content

	margin margin-top margin-right margin-bottom margin-left margin-block margin-inline
	padding padding-top padding-right padding-bottom padding-left padding-block padding-inline
	width min-width max-width height min-height max-height block-size inline-size aspect-ratio box-sizing
	display visibility position top right bottom left inset z-index float clear overflow overflow-x overflow-y object-fit object-position

	flex flex-basis flex-direction flex-flow flex-grow flex-shrink flex-wrap order gap row-gap column-gap
	align-content align-items align-self justify-content justify-items justify-self place-content place-items place-self
	grid grid-area grid-auto-columns grid-auto-flow grid-auto-rows grid-column grid-column-end grid-column-start
	grid-row grid-row-end grid-row-start grid-template grid-template-areas grid-template-columns grid-template-rows
	columns column-count column-width column-rule

	transform transform-origin transform-style translate rotate scale perspective perspective-origin backface-visibility
	transition transition-delay transition-duration transition-property transition-timing-function
	animation animation-delay animation-direction animation-duration animation-fill-mode animation-iteration-count
	animation-name animation-play-state animation-timing-function

	list-style list-style-position list-style-type table-layout caption-side empty-cells cursor
`)

// positions keep an element within what is around it; fixed would put it over
// the panel.
var positions = strings.Fields(`static relative absolute sticky inherit initial unset revert`)

// functions, as they begin. None of them can name an address.
var functions = strings.Fields(`
	calc( min( max( clamp( var( rgb( rgba( hsl( hsla(
	linear-gradient( radial-gradient( conic-gradient( repeating-linear-gradient( repeating-radial-gradient( repeating-conic-gradient(
	matrix( matrix3d( perspective( rotate( rotate3d( rotatex( rotatey( rotatez( scale( scale3d( scalex( scaley( scalez(
	skew( skewx( skewy( translate( translate3d( translatex( translatey( translatez(
	cubic-bezier( steps(
`)

// pseudoClasses say in which state an element is, except for visited links
// (:visited).
var pseudoClasses = strings.Fields(`
	hover focus focus-visible focus-within active link any-link target enabled disabled checked indeterminate default required optional
	read-only read-write placeholder-shown valid invalid in-range out-of-range empty root
	first-child last-child only-child first-of-type last-of-type only-of-type before after first-line first-letter
`)

var pseudoElements = strings.Fields(`before after first-line first-letter marker placeholder selection file-selector-button backdrop`)

var pseudoFunctions = strings.Fields(`not( is( where( nth-child( nth-last-child( nth-of-type( nth-last-of-type(`)

// secretAttributes hold what a visitor or the panel has written: to style by
// them is to read them.
var secretAttributes = strings.Fields(`value href src content`)
