package serve

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/storefront"
	"hostpanel/http/demo"
)

// openShop lets the demo's shop and its order form know where they are reached
// in this start. A form that an operator has removed stays removed.
func (d Demo) openShop(ctx context.Context, p *program.Program, path string) error {
	before := d
	d.BaseURL, d.Shop.URL = p.PublicURL(), demo.ShopURL(p.PublicURL())
	if d.Shop.WidgetID == "" {
		ids, err := p.Store.NextIDs(ctx, "widget")
		if err != nil {
			return err
		}
		d.Shop.Widget, d.Shop.WidgetID = ids[0], newWidgetID()
	}
	if d != before {
		if err := d.write(path); err != nil {
			return err
		}
	}
	command, err := d.shopForm(ctx, p)
	if err != nil {
		return err
	}
	_, err = p.Store.Execute(ctx, domain.Metadata{Actor: "system:demo"}, command)
	if err != nil && domain.CodeOf(err) != domain.NotFound {
		return fmt.Errorf("open the shop of the demo: %w", err)
	}
	return nil
}

// shopForm makes the order form of the shop, or tells it where its customers
// come back to.
func (d Demo) shopForm(ctx context.Context, p *program.Program) (domain.Command, error) {
	at := p.Store.Clock().Now().UTC()
	events, err := p.Store.Read(ctx, domain.Stream{Category: storefront.WidgetCategory, ID: fmt.Sprint(d.Shop.Widget)})
	if err != nil {
		return nil, err
	}
	form := storefront.Widget{}
	spec, err := decoded(&form, fmt.Sprintf(`{"name":"Demo shop","language":"en","cta_text":"Order","cta_text_es":"Contratar",`+
		`"primary_color":"#3F37C9","accent_color":"#14632F","success_url":%q,"cancel_url":%[1]q,"plans":[%d,%d,%d]}`,
		d.Shop.URL, d.Plans.Hosting, d.Plans.VPS, d.Plans.SaaS))
	if err != nil {
		return nil, fmt.Errorf("describe the shop of the demo: %w", err)
	}
	if len(events) == 0 {
		return storefront.MakeWidget{Widget: d.Shop.Widget, WidgetID: d.Shop.WidgetID, Spec: spec, At: at}, nil
	}
	return storefront.ChangeWidget{Widget: d.Shop.Widget, Spec: form.Fields().Only("success_url", "cancel_url").Values(), At: at}, nil
}

// demoOf is what the server shows of the demo.
func demoOf(p *program.Program) (*demo.Settings, error) {
	d, err := ReadDemo(filepath.Join(p.Config.DataDir, "demo.json"))
	if err != nil {
		return nil, err
	}
	return &demo.Settings{
		Widget: d.Shop.WidgetID, Key: d.APIKey, Operator: d.Superuser.Username, Customer: d.TenantAdmin.Username, Link: &demo.Link{},
		Letters: os.DirFS(filepath.Join(p.Config.DataDir, "outbox")),
	}, nil
}

// welcome tells a newcomer where to go and what to try. It shows no password,
// and a link that signs in to a terminal only: other output may be kept.
func welcome(c console.Console, p *program.Program, link *demo.Link) {
	public, dir := p.PublicURL(), p.Config.DataDir
	fmt.Fprint(c.Out, "\nThis is a demo: payments take no money, and sandboxes stand for servers.\n\n")
	if c.IsTerminal() {
		fmt.Fprintf(c.Out, "  Panel         %s\n                (signs you in once, within 10 minutes)\n", link.Draw(public))
	}
	fmt.Fprintf(c.Out, `  Shop          %[2]s
  Mails         %[1]s%[3]s
  Sign in at    %[1]s/login/
         as     %[4]s, or as customer@demo.example
  Passwords in  %[5]s
  Data in       %[6]s
  Then try      an order: docs/tour.md
                hostpanel doctor --data-dir %[6]s
                hostpanel orders list --data-dir %[6]s
  Stop with     Ctrl-C
`, public, demo.ShopURL(public), demo.MailPath, p.Config.AdminEmail, filepath.Join(dir, "demo.json"), dir)
}
